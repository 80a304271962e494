import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds heartbeats of processes, and the row that the commit check changes. */
export function createProcessesMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const end = sqlite ? ') strict, without rowid' : ')';
  const statements = [
    `create table process (
      id ${sqlite ? 'text' : 'text collate "C"'} primary key not null,
      heartbeat_at ${whole} not null
    ${end}`,
    `create table commit_check (
      id ${whole} primary key not null,
      checks ${whole} not null
    ${end}`,
    'insert into commit_check (id, checks) values (1, 0)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

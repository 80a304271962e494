import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Stores the requests of asynchronous runs, so that they survive the end of their process. */
export function createRunRequestsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    `alter table run add column begun_at ${whole}`,
    `create table run_request (
      project_id ${id} not null,
      run_id ${id} not null,
      request text,
      sealed ${whole} not null,
      repeatable ${whole} not null,
      attempts ${whole} not null,
      primary key (project_id, run_id)
    ${sqlite ? ') strict, without rowid' : ')'}`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Numbers the changes of keys in the order of their commits, so that a process loads only new changes. */
export function createKeyChangesMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    `create table key_change (
      one integer primary key not null check (one = 1),
      number ${whole} not null
    ${sqlite ? ') strict' : ')'}`,
    'insert into key_change (one, number) values (1, 0)',
    `alter table api_key add column change ${whole} not null default 0`,
    'create index api_key_changed on api_key (change)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

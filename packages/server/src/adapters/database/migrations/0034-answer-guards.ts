import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the caller of an idempotency key, the counts of its wrong repetitions, and the secret of the keyed hashes. */
export function createAnswerGuardsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const statements = [
    `alter table idempotency add column caller_id ${id} not null default ''`,
    'alter table idempotency add column wrong_of_caller integer not null default 0',
    'alter table idempotency add column wrong_of_others integer not null default 0',
    `create table answer_key (
      one integer primary key not null check (one = 1),
      secret text not null
    ${sqlite ? ') strict' : ')'}`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

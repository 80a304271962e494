import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

const kept = 'project_id, operation, key, caller_id, fingerprint, answer, expires_at, created_at, answer_bytes';

/** Makes the caller part of an idempotency key. One count of wrong requests is left, because no key has other callers. */
export function createIdempotencyCallersMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    `create table idempotency_0108 (
      project_id ${id} not null,
      operation ${id} not null,
      key ${id} not null,
      caller_id ${id} not null,
      fingerprint ${id},
      answer text,
      expires_at ${whole} not null,
      created_at ${whole} not null,
      wrong_requests integer not null default 0,
      answer_bytes integer not null default 0,
      ${sqlite ? '' : 'constraint idempotency_key '}primary key (project_id, operation, key, caller_id)
    ${sqlite ? ') strict' : ')'}`,
    `insert into idempotency_0108 (${kept}, wrong_requests) select ${kept}, wrong_of_caller from idempotency`,
    'drop table idempotency',
    'alter table idempotency_0108 rename to idempotency',
    'create index idempotency_to_forget on idempotency (expires_at)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the total bytes of stored answers per project. They change with the answers. */
export function createKeptAnswerBytesMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    'alter table idempotency add column answer_bytes integer not null default 0',
    `update idempotency set answer_bytes = ${sqlite ? 'length(cast(answer as blob))' : 'octet_length(answer)'}
      where operation = 'execute' and answer is not null`,
    `create table kept_answer_usage (
      project_id ${sqlite ? 'text' : 'text collate "C"'} primary key not null,
      bytes ${whole} not null
    ${sqlite ? ') strict, without rowid' : ')'}`,
    `insert into kept_answer_usage (project_id, bytes)
      select project_id, sum(answer_bytes) from idempotency where answer_bytes > 0 group by project_id`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

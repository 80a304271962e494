import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds recorded damage of blobs and the progress of the background verification. */
export function createBlobDamageMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const text = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    `alter table blob add column damage ${text}`,
    `alter table blob add column damaged_at ${whole}`,
    'create index blob_damaged on blob (id) where damage is not null',
    `create table verification (
      id ${text} primary key not null,
      position ${text} not null,
      pass_started_at ${whole} not null,
      pass_blobs ${whole} not null,
      pass_bytes ${whole} not null,
      finished_at ${whole},
      paused ${whole} not null
    ${sqlite ? ') strict' : ')'}`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

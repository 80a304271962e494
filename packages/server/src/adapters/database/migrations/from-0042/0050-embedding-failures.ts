import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds why a chunk has no vector, and the time of the next attempt. Texts that a model refuses have no next attempt. */
export function createEmbeddingFailuresMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  const statements = [
    'alter table chunk_vector add column reason text',
    `alter table chunk_vector add column retry_at ${whole}`,
    `alter table chunk_vector add column failures ${whole} not null default 0`,
    'create index chunk_vector_retry on chunk_vector (retry_at) where retry_at is not null',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

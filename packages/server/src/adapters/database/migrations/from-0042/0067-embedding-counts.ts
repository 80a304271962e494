import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/**
 * Adds the counts of embedded and refused chunks of each collection, the tokens that were paid for, and the last failed
 * attempt. The index of failed texts gets the order in which they are listed. ADR 0129.
 */
export function createEmbeddingCountsMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  const current = `from chunk_vector where chunk_vector.collection_id = collection_vector.collection_id
    and chunk_vector.change > collection_vector.first_change`;
  const statements = [
    `alter table collection_vector add column num_embedded ${whole} not null default 0`,
    `alter table collection_vector add column num_refused ${whole} not null default 0`,
    `alter table collection_vector add column num_tokens ${whole} not null default 0`,
    'alter table collection_vector add column error_reason text',
    `alter table collection_vector add column error_at ${whole}`,
    `alter table collection_vector add column error_retry_at ${whole}`,
    'drop index chunk_vector_refused',
    'create index chunk_vector_refused on chunk_vector (collection_id, change, seq) where code is null',
    `update collection_vector set
      num_embedded = (select count(*) ${current}) - (select count(*) ${current} and code is null),
      num_refused = (select count(*) ${current} and code is null and retry_at is null)`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

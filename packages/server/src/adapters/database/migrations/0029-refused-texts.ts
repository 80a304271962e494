import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Adds an index for refused texts, which are few and counted by collection. Earlier versions treated a status 400 as a
 * refusal even when the configuration was wrong. The two cannot be distinguished, so the next start with an embedder
 * sends all refused texts again.
 */
export function createRefusedTextsMigration(): Migration {
  const statements = [
    'delete from chunk_vector where code is null',
    'create index chunk_vector_refused on chunk_vector (collection_id, change, code) where code is null',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

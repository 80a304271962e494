import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Refused texts are few and counted by collection. Earlier versions took a status 400 for a refusal even when the
 * configuration was wrong. These cannot be told apart, so all refused texts are sent again at the next start with an embedder.
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

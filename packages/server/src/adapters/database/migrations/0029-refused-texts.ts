import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Texts that count as refused are few and counted by collection. Earlier versions took a status 400 for a refusal when the
 * configuration was to blame; which ones cannot be told, so all are asked again at the next start with an embedder.
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

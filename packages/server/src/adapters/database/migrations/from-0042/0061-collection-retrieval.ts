import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds what a collection sets for questions that do not say otherwise. */
export function createCollectionRetrievalMigration(): Migration {
  return {
    async up(db) {
      await sql.raw('alter table collection add column retrieval text').execute(db);
    },
  };
}

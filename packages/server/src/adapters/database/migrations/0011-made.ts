import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Adds the column for a document that an attempt has read completely, so that the next attempt continues from there.
 * See ADR 0032.
 */
export function createMadeMigration(): Migration {
  return {
    async up(db) {
      await sql.raw('alter table record add column made text').execute(db);
    },
  };
}

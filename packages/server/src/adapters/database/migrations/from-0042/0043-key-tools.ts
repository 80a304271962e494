import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the bundles and plugins that a key may run. Existing keys may run all. ADR 0101. */
export function createKeyToolsMigration(): Migration {
  return {
    async up(db) {
      await sql.raw('alter table api_key add column tools text').execute(db);
    },
  };
}

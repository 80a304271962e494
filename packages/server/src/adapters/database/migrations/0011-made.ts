import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What a try has read and written whole, so that the next one goes on from there. See ADR 0032. */
export function createMadeMigration(): Migration {
  return {
    async up(db) {
      await sql.raw('alter table record add column made text').execute(db);
    },
  };
}

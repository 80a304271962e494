import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Adds the hash of a session's second token, which the console keeps. Sessions of earlier versions have none and end
 * here. A process of an earlier version may still create sessions. These get the empty default, which is the hash of no
 * token.
 */
export function createConsoleTokensMigration(): Migration {
  return {
    async up(db) {
      await sql.raw('delete from session').execute(db);
      await sql.raw("alter table session add column console_hash text not null default ''").execute(db);
    },
  };
}

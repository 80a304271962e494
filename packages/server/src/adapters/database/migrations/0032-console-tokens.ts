import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The hash of the second token of a session, which the console keeps. Sessions of earlier versions have none and end here;
 * one that a process of an earlier version begins later gets the empty default, which no token has as its hash.
 */
export function createConsoleTokensMigration(): Migration {
  return {
    async up(db) {
      await sql.raw('delete from session').execute(db);
      await sql.raw("alter table session add column console_hash text not null default ''").execute(db);
    },
  };
}

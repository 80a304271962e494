import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the ids of the keys that a key replaced. */
export const addReplacedKeys: Migration = {
  async up(db) {
    await sql`alter table api_key add column replaced text`.execute(db);
  },
};

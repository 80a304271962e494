import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the status of a deleted record before its deletion, to which it returns when it is restored. */
export const addRestorableRecords: Migration = {
  async up(db) {
    await sql`alter table record add column deleted_from text`.execute(db);
  },
};

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Lets lists and counts of the records in a status read only an index. ADR 0162. */
export const recordStatusesMigration: Migration = {
  async up(db) {
    await sql.raw('create index record_of_status on record (collection_id, status, id)').execute(db);
  },
};

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Stores up to which chunk a record with changed metadata has been indexed again. ADR 0125. */
export const refreshedRecordsMigration: Migration = {
  async up(db) {
    await sql`alter table record add column metadata_reached text`.execute(db);
  },
};

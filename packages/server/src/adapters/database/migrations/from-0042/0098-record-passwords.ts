import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the encrypted password of the file of a record. */
export const recordPasswordsMigration: Migration = {
  async up(db) {
    await sql.raw('alter table record add column encrypted_password text').execute(db);
  },
};

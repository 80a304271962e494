import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the columns of a sheet that a request names, and the details of the error of a record. */
export const sheetColumnsMigration: Migration = {
  async up(db) {
    await sql.raw('alter table record add column sheet_columns text').execute(db);
    await sql.raw('alter table record add column error_details text').execute(db);
  },
};

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the places of chunks on scanned pages. Chunks that earlier versions created have none. */
export const scanBoxesMigration: Migration = {
  async up(db) {
    await sql.raw('alter table chunk add column scan_boxes text').execute(db);
  },
};

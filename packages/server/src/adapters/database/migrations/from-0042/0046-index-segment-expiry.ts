import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds the time at which a segment that no question reads may be deleted. ADR 0112. */
export function createIndexSegmentExpiryMigration(dialect: Database['dialect']): Migration {
  const type = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      await sql.raw(`alter table index_segment add column expires_at ${type}`).execute(db);
    },
  };
}

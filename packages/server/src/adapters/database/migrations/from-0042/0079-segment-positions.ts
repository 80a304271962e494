import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Stores the position of each segment a second time, so that a check finds a changed one. */
export function createSegmentPositionsMigration(dialect: Database['dialect']): Migration {
  const type = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      await sql.raw(`alter table index_segment add column position_copy ${type} not null default 0`).execute(db);
      await sql.raw('update index_segment set position_copy = position').execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Lets a rebuild in PostgreSQL outlast the replacement of an index in `posting`, until its rows are deleted. ADR 0122. */
export function createReplacedIndexesMigration(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      // SQLite knows from `full_text_place` which rows are left.
      if (dialect === 'sqlite') return;
      await sql`alter table index_rebuild alter column reached drop not null`.execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Drops the tables of the first index in PostgreSQL from a store without such an index. ADR 0123. */
export function createUnusedPostingsMigration(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      if (dialect === 'postgres') await sql`drop table if exists posting, indexed_chunk`.execute(db);
    },
  };
}

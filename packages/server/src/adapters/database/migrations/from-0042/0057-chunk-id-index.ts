import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/**
 * Replaces two indexes of chunks in PostgreSQL by one: the ids are unique within a collection, and every look-up by id
 * names the collection. SQLite keeps both, because it would have to copy the table. ADR 0126.
 */
export function createChunkIdIndexMigration(dialect: Database['dialect']): Migration {
  const statements = [
    'alter table chunk drop constraint chunk_id_key',
    'drop index chunk_of_collection',
    'create unique index chunk_of_collection on chunk (collection_id, id)',
  ];
  return {
    async up(db) {
      if (dialect === 'sqlite') return;
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

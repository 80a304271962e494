import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds the key by which the vector of an equal text is found. Vectors of earlier versions have none. ADR 0154. */
export function createTextKeysMigration(dialect: Database['dialect']): Migration {
  const type = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      for (const table of ['chunk_vector', 'second_chunk_vector']) {
        await sql.raw(`alter table ${table} add column text_key ${type}`).execute(db);
        const index = `create index ${table}_of_text on ${table} (text_key) where text_key is not null`;
        await sql.raw(index).execute(db);
      }
    },
  };
}

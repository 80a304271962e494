import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Stores the tokens that were paid for the vector of each chunk. */
export function createChunkTokensMigration(dialect: Database['dialect']): Migration {
  const type = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      for (const table of ['chunk_vector', 'second_chunk_vector']) {
        await sql.raw(`alter table ${table} add column tokens ${type} not null default 0`).execute(db);
      }
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/**
 * Adds the bytes that are stored for the chunks and rows of a record. Records of earlier versions count 0 until they are
 * processed again. The sum for a project reads only the index.
 */
export function createRecordBytesMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      await sql.raw(`alter table record add column stored_bytes ${whole} not null default 0`).execute(db);
      await sql.raw('create index record_bytes_of_project on record (project_id, stored_bytes)').execute(db);
    },
  };
}

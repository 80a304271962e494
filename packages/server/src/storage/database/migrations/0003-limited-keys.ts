import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  'alter table api_key add column collections text',
  'alter table file add column uploader_id $id',
  'create index file_of_uploader on file (uploader_id, id) where uploader_id is not null',
];

/** Adds the collections of a key, and the limited key that uploaded a file. */
export function createLimitedKeys(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

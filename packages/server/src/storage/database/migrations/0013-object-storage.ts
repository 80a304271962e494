import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  'alter table store add column blobs_id text',
  'alter table store add column blobs_place text',
  `create table blob_intent (
    blob_id $id primary key not null,
    state text not null,
    changed_at $whole not null
  $end_without_rowid`,
];

/** Adds the object storage of a store, and the blobs in it whose upload has not ended. */
export function createObjectStorage(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

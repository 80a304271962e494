import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Marks records whose metadata were changed after their chunks may have been indexed. ADR 0117. */
export function createChangedRecordMetadataMigration(dialect: Database['dialect']): Migration {
  const type = dialect === 'sqlite' ? 'integer' : 'bigint';
  const statements = [
    `alter table record add column metadata_changed ${type} not null default 0`,
    'create index record_of_changed_metadata on record (collection_id, id) where metadata_changed > 0',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

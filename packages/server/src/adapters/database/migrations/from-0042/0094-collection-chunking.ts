import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = [
  'alter table collection add column chunking text',
  'alter table collection add column chunking_version integer not null default 0',
  'alter table collection add column rechunking integer not null default 0',
  'alter table record add column chunking_version integer not null default 0',
  'alter table record add column rechunked_from text',
  'alter table record add column chunking_kept text',
  'alter table record add column chunks_changed integer not null default 0',
  'create index collection_to_rechunk on collection (id) where rechunking = 1',
  'create index record_of_chunking on record (collection_id, chunking_version, id)',
  'create index record_being_rechunked on record (collection_id) where rechunked_from is not null',
  // Earlier versions did not note which records have chunks that a request has changed or deleted.
  `update record set chunks_changed = 1 where id in (
    select record_id from chunk where record_id is not null and updated_at > created_at)`,
  `update record set chunks_changed = 1 where generation > 0 and num_chunks < (
    select coalesce(max(ordinal), -1) + 1 from chunk
    where chunk.record_id = record.id and chunk.generation = record.generation)`,
];

/** Stores how collections split documents, and the progress of a change. ADR 0156. */
export const collectionChunkingMigration: Migration = {
  async up(db) {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

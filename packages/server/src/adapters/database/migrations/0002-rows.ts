import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the keys of pairs, the handling of duplicates, and the rows of sheets that produced no chunk. */
export function createRowsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    'alter table record add column on_duplicate text',
    `alter table chunk add column row_key ${id}`,
    'create index chunk_of_row on chunk (collection_id, row_key) where row_key is not null',
    `create table record_row (
      id ${id} primary key not null,
      record_id ${id} not null references record (id) deferrable initially deferred,
      collection_id ${id} not null,
      generation ${whole} not null,
      status ${id} not null check (status in ('rejected', 'duplicate')),
      code text not null,
      sheet text,
      place ${whole} not null,
      column_name text,
      excerpt text not null,
      fields text not null
    ${sqlite ? ') strict' : ')'}`,
    'create index record_row_of_record on record_row (record_id, generation, status, id)',
    'create index record_row_of_collection on record_row (collection_id)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds the segments of the search index and their pages. ADR 0108. */
export function createIndexSegmentsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const text = sqlite ? 'text' : 'text collate "C"';
  const bytes = sqlite ? 'blob' : 'bytea';
  const statements = [
    `create table index_segment (
      id ${sqlite ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key'} not null,
      collection_id ${text} not null,
      state ${text} not null,
      position ${whole} not null,
      chunks ${whole} not null,
      removals ${whole} not null,
      pages ${whole} not null,
      header ${bytes} not null
    )${sqlite ? ' strict' : ''}`,
    'create index index_segment_of_collection on index_segment (collection_id, state, position)',
    `create table index_page (
      id ${sqlite ? 'integer' : 'bigint'} primary key not null,
      data ${bytes} not null
    )${sqlite ? ' strict' : ''}`,
    ...(sqlite ? [] : ['alter table index_page alter column data set storage external']),
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

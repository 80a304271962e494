import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds what tells which search indexes must be rebuilt, and how far a rebuild is. ADR 0113. */
export function createIndexRebuildsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const text = sqlite ? 'text' : 'text collate "C"';
  const statements = [
    `alter table index_segment add column analysis ${whole} not null default 1`,
    'create index index_segment_of_analysis on index_segment (analysis, collection_id)',
    `create table index_rebuild (
      collection_id ${text} primary key not null,
      reached ${text} not null,
      chunks ${whole} not null
    )${sqlite ? ' strict' : ''}`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

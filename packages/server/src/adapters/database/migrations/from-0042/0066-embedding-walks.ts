import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds the project of a collection's vectors, so that projects take turns, and the position of its backfill. ADR 0136. */
export function createEmbeddingWalksMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    `alter table collection_vector add column project_id ${id} not null default ''`,
    'update collection_vector set project_id = (select project_id from collection where id = collection_id)',
    `alter table collection_vector add column reached ${id}`,
    `alter table collection_vector add column restart ${id}`,
    `alter table collection_vector add column walk ${whole} not null default 0`,
    'create index collection_vector_of_project on collection_vector (project_id, run_after) where wanted > done',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

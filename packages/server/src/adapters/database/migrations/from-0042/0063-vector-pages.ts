import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/**
 * Adds pages of encoded vectors (ADR 0133). Stored vectors are not changed: until the service has written them into pages,
 * they are encoded when they are read. The codes of one bit are not used any more, so that the index needs none.
 */
export function createVectorPagesMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const text = sqlite ? 'text' : 'text collate "C"';
  const bytes = sqlite ? 'blob' : 'bytea';
  const statements = [
    `create table vector_page (
      id ${sqlite ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key'} not null,
      collection_id ${text} not null references collection (id) on delete cascade,
      first_change ${whole} not null,
      vectors ${whole} not null,
      scan ${bytes} not null,
      refine ${bytes} not null
    )${sqlite ? ' strict' : ''}`,
    'create index vector_page_of_collection on vector_page (collection_id, first_change, vectors)',
    `alter table collection_vector add column paged_change ${whole} not null default 0`,
    `alter table collection_vector add column page_version ${whole} not null default 0`,
    'update collection_vector set paged_change = first_change',
    'drop index chunk_vector_of_change',
    'create index chunk_vector_of_change on chunk_vector (collection_id, change, seq)',
    ...(sqlite
      ? []
      : ['scan', 'refine'].map((column) => `alter table vector_page alter column ${column} set storage external`)),
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

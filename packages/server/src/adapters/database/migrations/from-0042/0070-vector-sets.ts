import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

const columns = `project_id, model, dimensions, first_change, last_change, paged_change, page_version, wanted, done,
  reached, walk, restart, attempt, lease_owner, lease_until, run_after, num_embedded, num_refused, num_tokens, error_reason, error_at, error_retry_at`;

/**
 * Lets a collection have two sets of vectors. The vectors that it has are its first set; those of the second one are in a
 * table of the same form. ADR 0134.
 */
export function createVectorSetsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const bytes = sqlite ? 'blob' : 'bytea';
  const end = sqlite ? ') strict' : ')';
  const statements = [
    'alter table collection_vector rename to collection_vector_0070',
    ...['collection_vector_behind', 'collection_vector_of_project'].map((index) => `drop index ${index}`),
    `create table collection_vector (
      id ${id} ${sqlite ? '' : 'constraint collection_vector_id '}primary key not null,
      collection_id ${id} not null references collection (id) on delete cascade,
      slot ${whole} not null,
      role text not null,
      project_id ${id} not null,
      model text not null,
      dimensions ${whole} not null,
      first_change ${whole} not null,
      last_change ${whole} not null,
      paged_change ${whole} not null default 0,
      page_version ${whole} not null default 0,
      wanted ${whole} not null,
      done ${whole} not null,
      reached ${id},
      walk ${whole} not null default 0,
      restart ${id},
      attempt ${whole} not null,
      lease_owner ${id},
      lease_until ${whole},
      run_after ${whole} not null,
      num_embedded ${whole} not null default 0,
      num_refused ${whole} not null default 0,
      num_tokens ${whole} not null default 0,
      error_reason text,
      error_at ${whole},
      error_retry_at ${whole},
      unique (collection_id, slot)
    ${end}`,
    `insert into collection_vector (id, collection_id, slot, role, ${columns})
      select collection_id, collection_id, 0, 'live', ${columns} from collection_vector_0070`,
    'drop table collection_vector_0070',
    'create index collection_vector_behind on collection_vector (run_after) where wanted > done',
    'create index collection_vector_of_project on collection_vector (project_id, run_after) where wanted > done',
    `create table second_chunk_vector (
      seq ${whole} primary key not null references chunk (seq) on delete cascade,
      collection_id ${id} not null,
      change ${whole} not null,
      code ${bytes},
      vector ${bytes},
      reason text,
      retry_at ${whole},
      failures ${whole} not null default 0
    ${end}`,
    'create index second_chunk_vector_of_change on second_chunk_vector (collection_id, change, seq)',
    'create index second_chunk_vector_refused on second_chunk_vector (collection_id, change, seq) where code is null',
    'create index second_chunk_vector_retry on second_chunk_vector (retry_at) where retry_at is not null',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

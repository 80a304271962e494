import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the vectors of chunks, which are deleted with their chunk, and the vector state of each collection. */
export function createVectorsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const bytes = sqlite ? 'blob' : 'bytea';
  const end = sqlite ? ') strict' : ')';
  const statements = [
    `create table collection_vector (
      collection_id ${id} primary key not null references collection (id) on delete cascade,
      model text not null,
      dimensions ${whole} not null,
      first_change ${whole} not null,
      last_change ${whole} not null,
      wanted ${whole} not null,
      done ${whole} not null,
      attempt ${whole} not null,
      lease_owner ${id},
      lease_until ${whole},
      run_after ${whole} not null
    ${end}`,
    'create index collection_vector_behind on collection_vector (run_after) where wanted > done',
    `create table chunk_vector (
      seq ${whole} primary key not null references chunk (seq) on delete cascade,
      collection_id ${id} not null,
      change ${whole} not null,
      code ${bytes},
      vector ${bytes}
    ${end}`,
    'create index chunk_vector_of_change on chunk_vector (collection_id, change, seq, code)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

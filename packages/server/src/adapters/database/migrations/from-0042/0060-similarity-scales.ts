import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds what the similarities of each collection mean. ADR 0130. */
export function createSimilarityScalesMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const real = sqlite ? 'real' : 'double precision';
  const id = sqlite ? 'text' : 'text collate "C"';
  const statement = `create table similarity_scale (
    collection_id ${id} primary key not null references collection (id) on delete cascade,
    model text not null,
    first_change ${whole} not null,
    last_change ${whole} not null,
    unrelated ${real} not null,
    related ${real} not null,
    weight ${real} not null,
    share ${real} not null
  )${sqlite ? ' strict' : ''}`;
  return {
    async up(db) {
      await sql.raw(statement).execute(db);
    },
  };
}

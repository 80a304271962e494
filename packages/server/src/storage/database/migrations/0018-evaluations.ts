import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statement = `create table evaluation (
    collection_id $id primary key not null references collection (id) on delete cascade,
    created_at $whole not null,
    ranks text not null
  $end`;

/** Adds the last evaluation of each collection. */
export function createEvaluationTable(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const each of inDialect([statement], dialect)) await sql.raw(each).execute(db);
    },
  };
}

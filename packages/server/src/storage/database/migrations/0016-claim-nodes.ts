import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  'alter table idempotency add column node_id $id',
  'alter table idempotency add column repeatable integer not null default 1',
];

/** Adds the node that runs the request of a key, and whether the request may run a second time. */
export function addClaimNodes(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

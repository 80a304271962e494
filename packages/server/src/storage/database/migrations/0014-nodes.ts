import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  "alter table node add column address text not null default ''",
  "alter table node add column capabilities text not null default '{}'",
  "alter table node add column settings text not null default '{}'",
  `create table task_leader (
    task $id primary key not null,
    node_id $id not null
  $end_without_rowid`,
];

/** Adds what each node tells the others, and the node that performs each periodic task of the store. */
export function createNodes(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

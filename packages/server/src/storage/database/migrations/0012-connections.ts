import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  'alter table credential_profile add column end_user text',
  'alter table credential_profile add column status text',
  'alter table credential_profile add column connection text',
  'create index connection_of_end_user on credential_profile (project_id, end_user, id) where end_user is not null',
  `create table bundle_client (
    id $id primary key not null,
    bundle_id $id not null unique,
    sealed text not null,
    key_id $id not null,
    created_at $whole not null,
    updated_at $whole not null
  $end_without_rowid`,
];

/** Adds the connections of end users, which are credential profiles, and the OAuth clients of bundles. */
export function createConnections(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

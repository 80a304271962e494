import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  `create table project_deletion (
    project_id $id primary key not null,
    name text not null,
    begun_at $whole not null,
    ended_at $whole,
    key_change $whole not null default 0,
    steps $whole not null default 0,
    collections $whole not null default 0,
    records $whole not null default 0,
    chunks $whole not null default 0,
    files $whole not null default 0,
    artifacts $whole not null default 0,
    bytes $whole not null default 0,
    runs $whole not null default 0,
    credential_profiles $whole not null default 0,
    keys $whole not null default 0
  $end_without_rowid`,
  'create index project_deletion_running on project_deletion (project_id) where ended_at is null',
];

/** Creates the table of deleted projects. */
export function createProjectDeletionTable(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

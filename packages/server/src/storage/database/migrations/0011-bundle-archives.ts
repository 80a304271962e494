import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statement = `create table bundle_archive (
    id $id primary key not null references file (id) on delete cascade,
    bundle_id $id not null,
    facts text not null,
    expires_at $whole
  $end_without_rowid`;

/** Adds the archives of bundles that were installed or planned from packages. */
export function createBundleArchives(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const each of inDialect([statement], dialect)) await sql.raw(each).execute(db);
    },
  };
}

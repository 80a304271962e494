import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statement = `create table trusted_publisher (
    key $id primary key not null,
    name text not null
  $end_without_rowid`;

/** Adds the trusted publishers of bundles, which a file in the data folder listed before. */
export function createTrustedPublisherTable(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const each of inDialect([statement], dialect)) await sql.raw(each).execute(db);
    },
  };
}

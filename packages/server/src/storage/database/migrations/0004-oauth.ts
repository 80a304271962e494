import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

/** Applications that sign in: what people allowed them, their metadata, their codes and tokens. */
export const oauthTables: readonly string[] = [
  `create table oauth_client (
    id $id primary key not null,
    kind $id not null,
    metadata text not null,
    created_at $whole not null,
    fresh_until $whole not null
  $end`,
  'create index oauth_client_of_kind on oauth_client (kind, created_at)',

  `create table oauth_grant (
    id $id primary key not null,
    client_id $id not null,
    administrator_id $id not null,
    project_id $id not null references project (id) $later,
    resource text not null,
    scopes text not null,
    collections text,
    tools text,
    created_at $whole not null,
    expires_at $whole not null,
    last_used_at $whole,
    revoked_at $whole
  $end`,
  'create index oauth_grant_of_client on oauth_grant (client_id)',
  'create index oauth_grant_of_project on oauth_grant (project_id, id)',

  `create table oauth_record (
    model $id not null,
    hash $id not null,
    grant_id $id,
    project_id $id not null,
    payload text not null,
    expires_at $whole not null,
    consumed_at $whole,
    uses $whole not null default 0,
    primary key (model, hash)
  $end`,
  'create index oauth_record_expiring on oauth_record (expires_at)',
  'create index oauth_record_of_project on oauth_record (project_id, hash)',
];

export function createOauthTables(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(oauthTables, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

/** Neither database can make a column nullable in the same way, so the rows move to new tables. */
const statements: readonly string[] = [
  `create table account (
    id $id primary key not null,
    name text not null,
    email text,
    password_hash text,
    browser_secret text,
    is_administrator $whole not null,
    issuer $id,
    subject $id,
    disabled_at $whole,
    created_at $whole not null,
    updated_at $whole not null,
    last_sign_in_at $whole,
    unique (issuer, subject)
  $end`,
  `insert into account (id, name, password_hash, browser_secret, is_administrator, created_at, updated_at)
    select id, name, password_hash, browser_secret, 1, created_at, updated_at from administrator`,

  'create table former_session as select * from session',
  'drop table session',
  'drop table administrator',
  `create table session (
    hash $id primary key not null,
    account_id $id not null references account (id),
    created_at $whole not null,
    last_used_at $whole not null,
    expires_at $whole not null,
    console_hash text not null,
    id $id not null,
    client_address text not null,
    user_agent text not null
  $end`,
  `insert into session
    select hash, administrator_id, created_at, last_used_at, expires_at, console_hash, id, client_address, user_agent
    from former_session`,
  'drop table former_session',
  'create index session_of_account on session (account_id)',

  `create table member (
    project_id $id not null references project (id) $later,
    account_id $id not null references account (id),
    role $id not null check (role in ('administrator', 'member', 'viewer')),
    source $id not null check (source in ('manual', 'claim')),
    created_at $whole not null,
    primary key (project_id, account_id)
  $end_without_rowid`,
  'create index member_of_account on member (account_id)',

  'alter table oauth_grant rename column administrator_id to account_id',
  'create index oauth_grant_of_account on oauth_grant (account_id)',
];

/** Lets several people sign in, each with a role in projects. */
export function createAccounts(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

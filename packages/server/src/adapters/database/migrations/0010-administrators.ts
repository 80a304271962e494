import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/**
 * Adds administrators, their sessions, the counters of sign-in attempts, and the token that creates the first
 * administrator.
 */
export function createAdministratorsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const end = sqlite ? ') strict' : ')';
  const statements = [
    `create table administrator (
      id ${id} primary key not null,
      name text not null unique,
      password_hash text not null,
      browser_secret text not null,
      created_at ${whole} not null,
      updated_at ${whole} not null
    ${end}`,
    `create table session (
      hash ${id} primary key not null,
      administrator_id ${id} not null references administrator (id),
      created_at ${whole} not null,
      last_used_at ${whole} not null,
      expires_at ${whole} not null
    ${end}`,
    'create index session_of_administrator on session (administrator_id)',
    `create table set_up_token (
      id ${whole} primary key not null check (id = 1),
      hash ${id} not null,
      expires_at ${whole} not null
    ${end}`,
    `create table attempt_counter (
      bucket ${id} primary key not null,
      window_start ${whole} not null,
      failures ${whole} not null,
      retry_at ${whole} not null
    ${end}`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

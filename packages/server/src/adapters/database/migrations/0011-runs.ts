import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds plugin runs, the results of asynchronous runs, and the setting of a project to keep inputs. */
export function createRunsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  // Rows are found by project and id only, so the table is its own index.
  const end = sqlite ? ') strict, without rowid' : ')';
  const statements = [
    `create table input_keeper (
      project_id ${id} primary key not null references project (id)
    ${sqlite ? ') strict' : ')'}`,
    `create table run (
      project_id ${id} not null,
      id ${id} not null,
      bundle_id ${id} not null,
      plugin_id ${id},
      origin ${id} not null,
      isolation ${id} not null,
      mode ${id} not null check (mode in ('sync', 'async')),
      created_at ${whole} not null,
      lease_owner ${id},
      lease_until ${whole},
      cancel_asked ${whole},
      outcome ${id},
      detail text,
      primary key (project_id, id)
    ${end}`,
    'create index run_of_bundle on run (project_id, bundle_id, id)',
    // Most runs succeed. The index covers the few others, which operators search for.
    `create index run_not_succeeded on run (project_id, outcome, id) where outcome <> 'succeeded'`,
    'create index run_under_way on run (lease_until) where outcome is null',
    `create table run_result (
      project_id ${id} not null,
      run_id ${id} not null,
      expires_at ${whole} not null,
      bytes ${whole} not null,
      result text not null,
      primary key (project_id, run_id)
    ${sqlite ? ') strict' : ')'}`,
    'create index run_result_by_age on run_result (expires_at, bytes)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

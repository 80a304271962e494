import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/**
 * Adds the order in which records are claimed: projects alternate, and small records come first within a project. See
 * ADR 0063.
 */
export function createRecordTurnsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const text = sqlite ? 'text' : 'text collate "C"';
  const statements = [
    `alter table record add column source_bytes ${whole} not null default 0`,
    `alter table record add column claim_order ${whole} not null default 0`,
    `create index record_of_turn on record (project_id, claim_order, id) where status = 'creating'`,
    'create index record_in_work on record (lease_until, project_id) where lease_owner is not null',
    `create table record_turn (
      id ${whole} primary key not null,
      project_id ${text} not null
    ${sqlite ? ') strict' : ')'}`,
    `insert into record_turn (id, project_id) values (1, '')`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

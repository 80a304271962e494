import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds the key of a record, and the key of each project whose record was claimed last, so that keys alternate. ADR 0063. */
export function createRecordKeysMigration(dialect: Database['dialect']): Migration {
  const [text, options] = dialect === 'sqlite' ? ['text', 'strict'] : ['text collate "C"', ''];
  const statements = [
    `alter table record add column key_id ${text} not null default ''`,
    'drop index record_of_turn',
    `create index record_of_turn on record (project_id, key_id, claim_order, id) where status = 'creating'`,
    `create table record_key_turn (project_id ${text} primary key not null, key_id ${text} not null) ${options}`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

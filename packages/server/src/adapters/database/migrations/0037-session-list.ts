import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/**
 * Adds the fields that a list shows of a session. Existing sessions have no id by which they could be ended, so they
 * end here.
 */
export function createSessionListMigration(dialect: Database['dialect']): Migration {
  const id = dialect === 'sqlite' ? 'text' : 'text collate "C"';
  const statements = [
    'delete from session',
    `alter table session add column id ${id} not null default ''`,
    "alter table session add column client_address text not null default ''",
    "alter table session add column user_agent text not null default ''",
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

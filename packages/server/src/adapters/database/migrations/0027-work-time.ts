import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** How long a record has been worked on, all tries together: its deadline counts that and not the time between them. */
export function createWorkTimeMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      await sql.raw(`alter table record add column worked_ms ${whole} not null default 0`).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/**
 * Adds the total working time of all attempts of a record. The deadline counts this time and not the time between
 * attempts.
 */
export function createWorkTimeMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      await sql.raw(`alter table record add column worked_ms ${whole} not null default 0`).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the claim of the process that refreshes the access token of a credential profile. */
export function createRefreshClaimsMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db) {
      await sql.raw('alter table credential_profile add column refresh_claim text').execute(db);
      await sql.raw(`alter table credential_profile add column refresh_claimed_until ${whole}`).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the key that created a key, so that both can be revoked together. */
export function createKeyMakersMigration(dialect: Database['dialect']): Migration {
  const id = dialect === 'sqlite' ? 'text' : 'text collate "C"';
  return {
    async up(db) {
      await sql.raw(`alter table api_key add column maker_id ${id}`).execute(db);
      await sql.raw('create index api_key_of_maker on api_key (maker_id) where maker_id is not null').execute(db);
    },
  };
}

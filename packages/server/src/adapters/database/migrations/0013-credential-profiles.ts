import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the encrypted credentials that projects store under a name. */
export function createCredentialProfilesMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const id = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    `create table credential_profile (
      id ${id} primary key not null,
      project_id ${id} not null references project (id) deferrable initially deferred,
      bundle_id ${id} not null,
      name ${id} not null,
      sealed text not null,
      key_id ${id} not null,
      created_at ${whole} not null,
      updated_at ${whole} not null,
      unique (project_id, name)
    ${sqlite ? ') strict' : ')'}`,
    'create index credential_profile_of_project on credential_profile (project_id, id)',
    'create index credential_profile_of_key on credential_profile (key_id, id)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

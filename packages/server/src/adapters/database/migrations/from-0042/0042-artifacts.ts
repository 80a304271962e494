import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds what is stored of an artifact besides its row in `file`: its run, its type and when it expires. ADR 0097. */
export function createArtifactsMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  const id = sqlite ? 'text' : 'text collate "C"';
  const statements = [
    `create table artifact (
      id ${id} primary key not null references file (id) on delete cascade,
      project_id ${id} not null,
      key_id ${id},
      run_id ${id} not null,
      media_type text not null,
      expires_at ${whole} not null
    ${sqlite ? ') strict, without rowid' : ')'}`,
    'create index artifact_of_project on artifact (project_id, id)',
    'create index artifact_expiring on artifact (expires_at)',
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the bytes that the files of a project use. They change with the files. */
export function createProjectUsageMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const statements = [
    `create table project_usage (
      project_id ${sqlite ? 'text' : 'text collate "C"'} primary key not null,
      file_bytes ${sqlite ? 'integer' : 'bigint'} not null
    ${sqlite ? ') strict, without rowid' : ')'}`,
    `insert into project_usage (project_id, file_bytes)
      select project_id, sum(bytes) from file where state = 'live' group by project_id`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

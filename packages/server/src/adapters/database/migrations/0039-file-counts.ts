import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the number of files per project. It changes with the files. */
export function createFileCountsMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  const statements = [
    `alter table project_usage add column file_count ${whole} not null default 0`,
    `update project_usage set file_count = counted.files
      from (select project_id, count(*) as files from file where state = 'live' group by project_id) as counted
      where counted.project_id = project_usage.project_id`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

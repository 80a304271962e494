import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { inDialect } from './0001-baseline.ts';

const statements: readonly string[] = [
  `create table rate_limit (
    id $id primary key not null,
    project_id $id not null references project (id) $later,
    subject_id $id,
    tool text,
    per_minute $whole,
    per_day $whole,
    created_at $whole not null
  $end`,
  'create index rate_limit_of_project on rate_limit (project_id, id)',
  `create table rate_usage (
    rate_limit_id $id not null references rate_limit (id) on delete cascade,
    subject_id $id not null,
    kind $id not null,
    project_id $id not null,
    window_start $whole not null,
    count $whole not null,
    portion $whole not null,
    primary key (rate_limit_id, subject_id, kind)
  $end`,
  'create index rate_usage_of_project on rate_usage (project_id, subject_id)',
  'create index rate_usage_of_window on rate_usage (window_start)',
];

/** Adds the rate limits of projects and what was counted. */
export function createRateLimits(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of inDialect(statements, dialect)) await sql.raw(statement).execute(db);
    },
  };
}

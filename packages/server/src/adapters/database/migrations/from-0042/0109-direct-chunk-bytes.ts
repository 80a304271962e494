import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

const texts = ['content', 'question', 'answer', 'metadata', 'locator', 'scan_boxes'];
const bytes = texts.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');

/** Adds the bytes of the chunks of a project that have no record. They change with these chunks. */
export function createDirectChunkBytesMigration(dialect: Database['dialect']): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  const statements = [
    `alter table project_usage add column chunk_bytes ${whole} not null default 0`,
    `insert into project_usage (project_id, file_bytes, file_count, chunk_bytes)
      select project_id, 0, 0, sum(${bytes}) from chunk where record_id is null group by project_id
      on conflict (project_id) do update set chunk_bytes = excluded.chunk_bytes`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

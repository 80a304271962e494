import type { RecordListQuery } from '@quartermaster/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../database/database.ts';
import { containsText } from '../../database/like-pattern.ts';

/** Returns the conditions of a list on the rows of `record`. */
export function recordFilters(
  { status, name, sha256 }: RecordListQuery,
  { dialect, projectId }: { readonly dialect: Database['dialect']; readonly projectId: string },
): ReadonlyArray<RawBuilder<boolean>> {
  const conditions: Array<RawBuilder<boolean>> = [];
  if (status !== undefined) conditions.push(sql`record.status = ${status}`);
  if (name !== undefined) conditions.push(ofName(name, dialect));
  if (sha256 !== undefined) conditions.push(ofContent(sha256, projectId));
  return conditions;
}

/** Selects records by the hash of their file. Each step uses an index: the blob of the content, its files, their records. */
export function ofContent(sha256: string, projectId: string): RawBuilder<boolean> {
  return sql`record.file_id in (
    select file.id from file inner join blob on blob.id = file.blob_id
    where blob.project_id = ${projectId} and blob.sha256 = ${sha256} and blob.state = 'live'
  )`;
}

export function ofName(name: string, dialect: Database['dialect']): RawBuilder<boolean> {
  return containsText(nameOfRecord(dialect), name, dialect);
}

/** The name that the console shows. Only the JSON of a file has a file name, and the text of a record may be long. */
function nameOfRecord(dialect: Database['dialect']): RawBuilder<string> {
  const fileName =
    dialect === 'postgres' ? sql`record.content::json ->> 'file_name'` : sql`record.content ->> '$.file_name'`;
  return sql`(case when record.title <> '' then record.title
    when record.file_id is not null then ${fileName}
    else coalesce(record.url, substr(record.content, 1, 80)) end)`;
}

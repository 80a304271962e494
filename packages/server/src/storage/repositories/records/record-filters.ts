import type { RecordListQuery } from '@quartermaster/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Total } from '../../../platform/page.ts';
import type { Database } from '../../database/database.ts';
import { containsText } from '../../database/like-pattern.ts';
import { countRows } from '../../database/row-limit.ts';

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

/**
 * Counts the records of a list. Without a name and a hash, it reads only the index of statuses: in a row, the text of the
 * record precedes the status, and SQLite would read it.
 */
export function countRecords(
  { read, dialect }: Pick<Database, 'read' | 'dialect'>,
  { projectId, collectionId }: { readonly projectId: string; readonly collectionId: string },
  { status, name, sha256 }: RecordListQuery,
): Promise<Total> {
  const collection = read.selectFrom('collection').select('id').where('id', '=', collectionId);
  const ofProject = collection.where('project_id', '=', projectId);
  const hasStatus =
    status === undefined ? sql<boolean>`record.status <> 'deleting'` : sql<boolean>`record.status = ${status}`;
  const hasName = name === undefined ? [] : [ofName(name, dialect)];
  if (sha256 !== undefined) {
    const ofFiles = read.selectFrom('record').where(ofContent(sha256, projectId));
    return countRows(read, ofFiles, [sql<boolean>`record.collection_id in (${ofProject})`, hasStatus, ...hasName]);
  }
  const ofCollection = read.selectFrom('record').where('collection_id', '=', ofProject);
  const rows = status === undefined ? ofCollection : ofCollection.where('status', '=', status);
  const ordered = name === undefined ? rows.orderBy('status').orderBy('id') : rows.orderBy('id', 'desc');
  return countRows(read, ordered, [...(status === undefined ? [hasStatus] : []), ...hasName]);
}

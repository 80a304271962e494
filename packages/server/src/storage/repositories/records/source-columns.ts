import {
  type OnDuplicate,
  type RecordListQuery,
  type RecordType,
  recordTypes,
  type SheetColumns,
  type TextSplitter,
} from '@quartermaster/contract';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { Total } from '../../../platform/page.ts';
import { readFileName } from '../../../stores/collections/records/record-file-name.ts';
import type { NamedRecord, RecordChange, RecordSource } from '../../../stores/collections/records/record-repository.ts';
import type { RecordTable } from '../../database/collection-tables.ts';
import type { Database } from '../../database/database.ts';
import { containsText } from '../../database/like-pattern.ts';
import { countRows } from '../../database/row-limit.ts';

/** Writes the source of a record into its columns. */
export function sourceColumns(source: RecordSource) {
  return {
    type: source.type,
    title: source.title,
    content: source.content,
    file_id: source.fileId,
    url: source.url,
    text_splitter: source.textSplitter === null ? null : JSON.stringify(source.textSplitter),
    on_duplicate: source.onDuplicate ?? null,
    sheet_columns: source.columns === undefined ? null : JSON.stringify(source.columns),
  };
}

export const sourceNames = [
  ...(['type', 'title', 'content', 'file_id', 'url', 'text_splitter', 'on_duplicate', 'sheet_columns'] as const),
] as const satisfies ReadonlyArray<keyof ReturnType<typeof sourceColumns>>;

/** Reads the source of a record back from its columns. */
export function toSource(row: Pick<Selectable<RecordTable>, (typeof sourceNames)[number]>): RecordSource {
  return {
    type: row.type as RecordType, // written by sourceColumns, as is what follows
    title: row.title,
    content: row.content,
    fileId: row.file_id,
    url: row.url,
    textSplitter: row.text_splitter === null ? null : (parseJson(row.text_splitter) as TextSplitter),
    ...(row.on_duplicate === null ? {} : { onDuplicate: row.on_duplicate as OnDuplicate }),
    ...(row.sheet_columns === null ? {} : { columns: parseJson(row.sheet_columns) as SheetColumns }),
  };
}

type NameColumns = { readonly [Name in 'title' | 'file_id' | 'url' | 'file']: string | null };

export function toNamedRecord({ title, file_id: fileId, url, file }: NameColumns): NamedRecord {
  return { title: title ?? '', fileId, fileName: file === null ? null : readFileName(file), url };
}

/** A record is claimed as if it had been queued one second later for each 10 kB of its source, at most an hour. */
const bytesPerMs = 10;
const longestDelayMs = 60 * 60_000;

/**
 * Assumed bytes of a web page, because its size is unknown before it is fetched. The server may be slow, so a page does
 * not count as small.
 */
const pageBytes = 1024 * 1024;

/** Returns the size of the source in bytes. */
function sourceBytesOf(source: RecordSource): number {
  if (source.type === 'web') return pageBytes;
  if (source.fileId === null) return Buffer.byteLength(source.content);
  // `readSource` writes the size as the last member.
  const [, bytes] = /"file_size":(\d{1,15})\}$/.exec(source.content) ?? [];
  return bytes === undefined ? pageBytes : Number(bytes);
}

/** Removes the lease, so that the claim of a process that works on the record becomes void, and erases the password. */
export const free = { lease_owner: null, lease_until: null, encrypted_password: null };

type Work = Omit<NonNullable<RecordChange['remake']>, 'from'>;

/** Returns the columns of a record that waits to be processed. */
export function waiting(now: number, { source, keyId = null, deadlineAt, encryptedPassword = null }: Work) {
  const bytes = sourceBytesOf(source);
  return {
    key_id: keyId ?? '',
    source_bytes: bytes,
    claim_order: now + Math.min(longestDelayMs, Math.floor(bytes / bytesPerMs)),
    ...free,
    encrypted_password: encryptedPassword,
    status: 'creating',
    stage: 'queued',
    percent: 0,
    error_code: null,
    error_message: null,
    error_details: null,
    report: null,
    made: null,
    rechunked_from: null,
    attempt: 0,
    worked_ms: 0,
    run_after: now,
    deadline_at: deadlineAt,
  };
}

/** Returns the conditions of a list on the rows of `record`. */
export function recordFilters(
  { status, type, name, sha256 }: RecordListQuery,
  { dialect, projectId }: { readonly dialect: Database['dialect']; readonly projectId: string },
): ReadonlyArray<RawBuilder<boolean>> {
  const conditions: Array<RawBuilder<boolean>> = [];
  if (status !== undefined) conditions.push(sql`record.status = ${status}`);
  if (status === 'deleting') conditions.push(isRestorable);
  if (type !== undefined) conditions.push(ofType(type, dialect));
  if (name !== undefined) conditions.push(ofName(name, dialect));
  if (sha256 !== undefined) conditions.push(ofContent(sha256, projectId));
  return conditions;
}

/** Of the records that are being deleted, those that can be restored are listed. */
const isRestorable = sql<boolean>`record.deleted_from is not null`;

/** Selects records by the hash of their file. Each step uses an index: the blob of the content, its files, their records. */
function ofContent(sha256: string, projectId: string): RawBuilder<boolean> {
  return sql`record.file_id in (
    select file.id from file inner join blob on blob.id = file.blob_id
    where blob.project_id = ${projectId} and blob.sha256 = ${sha256} and blob.state = 'live'
  )`;
}

function ofName(name: string, dialect: Database['dialect']): RawBuilder<boolean> {
  return containsText(nameOfRecord(dialect), name, dialect);
}

/** @param type a type of records, or an extension in lower case, which contains no wildcard */
function ofType(type: string, dialect: Database['dialect']): RawBuilder<boolean> {
  if (recordTypes.some((one) => one === type)) return sql`record.type = ${type}`;
  const isFormat = sql`lower(${fileNameOf(dialect)}) like ${`%.${type}`}`;
  return sql`(case when record.file_id is not null then ${isFormat} else false end)`;
}

function fileNameOf(dialect: Database['dialect']) {
  return dialect === 'postgres' ? sql`record.content::json ->> 'file_name'` : sql`record.content ->> '$.file_name'`;
}

/** The name that the console shows. Only the JSON of a file has a file name, and the text of a record may be long. */
function nameOfRecord(dialect: Database['dialect']): RawBuilder<string> {
  return sql`(case when record.title <> '' then record.title
    when record.file_id is not null then ${fileNameOf(dialect)}
    else coalesce(record.url, substr(record.content, 1, 80)) end)`;
}

/**
 * Counts the records of a list. Without a type, a name and a hash, it reads only the index of statuses: in a row, the text of the
 * record precedes the status, and SQLite would read it.
 */
export function countRecords(
  { read, dialect }: Pick<Database, 'read' | 'dialect'>,
  { projectId, collectionId }: { readonly projectId: string; readonly collectionId: string },
  { status, type, name, sha256 }: RecordListQuery,
): Promise<Total> {
  const collection = read.selectFrom('collection').select('id').where('id', '=', collectionId);
  const ofProject = collection.where('project_id', '=', projectId);
  const hasStatus =
    status === undefined ? sql<boolean>`record.status <> 'deleting'` : sql<boolean>`record.status = ${status}`;
  const others = [
    ...(type === undefined ? [] : [ofType(type, dialect)]),
    ...(name === undefined ? [] : [ofName(name, dialect)]),
    ...(status === 'deleting' ? [isRestorable] : []),
  ];
  if (sha256 !== undefined) {
    const ofFiles = read.selectFrom('record').where(ofContent(sha256, projectId));
    return countRows(read, ofFiles, [sql<boolean>`record.collection_id in (${ofProject})`, hasStatus, ...others]);
  }
  const ofCollection = read.selectFrom('record').where('collection_id', '=', ofProject);
  const rows = status === undefined ? ofCollection : ofCollection.where('status', '=', status);
  const ordered =
    name === undefined && type === undefined ? rows.orderBy('status').orderBy('id') : rows.orderBy('id', 'desc');
  return countRows(read, ordered, [...(status === undefined ? [hasStatus] : []), ...others]);
}

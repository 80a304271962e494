import type { OnDuplicate, RecordType, SheetColumns, TextSplitter } from '@quartermaster/contract';
import { type Selectable, sql } from 'kysely';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { RecordChange, RecordSource } from '../../../stores/collections/records/record-repository.ts';
import type { RecordTable } from '../../database/collection-tables.ts';

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

/** Reads the source of a record back from its columns. */
export function toSource(row: Selectable<RecordTable>): RecordSource {
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

/** Selects the JSON of the file of a record; null without a file, or without its content. The text of another record may be long. */
export const fileOfRecord = sql<
  string | null
>`case when record.file_id is null or record.content = '' then null else record.content end`.as('file');

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

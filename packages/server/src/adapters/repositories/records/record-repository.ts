import type { RecordFailure, RecordFailureDetails, RecordListQuery, RecordStatus } from '@quartermaster/contract';
import {
  expressionBuilder,
  type Insertable,
  type Kysely,
  type Selectable,
  sql,
  type Transaction,
  type Updateable,
  type UpdateObject,
} from 'kysely';
import { readFileName } from '../../../collections/records/record-file-name.ts';
import type {
  NamedRecord,
  NewRecord,
  RecordChange,
  RecordKey,
  RecordRepository,
  RecordSource,
  StoredRecord,
} from '../../../collections/records/record-repository.ts';
import { parseJson } from '../../../kernel/json/parse-json.ts';
import type { RecordTable } from '../../database/collection-tables.ts';
import type { Database } from '../../database/database.ts';
import { type KeysetWindow, readKeysetPage } from '../../database/keyset-page.ts';
import { maxPageWeight, rowWeight, withWeightBefore } from '../../database/page-weight.ts';
import { areAtLeast } from '../../database/row-limit.ts';
import type { Tables } from '../../database/tables.ts';
import { countRecords } from './count-records.ts';
import { fileOfRecord } from './file-of-record.ts';
import { lockCollection } from './lock-collection.ts';
import { failedColumns } from './rechunking.ts';
import { recordFilters } from './record-filters.ts';
import { sourceColumns, toSource } from './source-columns.ts';

/** Stores records in either database. */
export function createRecordRepository({ read, write, dialect }: Database): RecordRepository {
  const live = () => liveRecords(read);

  return {
    add: (record) => write.transaction().execute((transaction) => addRecord(transaction, record)),
    async find(key) {
      const row = await live()
        .where('id', '=', key.recordId)
        .where('collection_id', '=', key.collectionId)
        .where('project_id', '=', key.projectId)
        .executeTakeFirst();
      return row === undefined ? undefined : toRecord(row);
    },
    async name(projectId, recordIds) {
      if (recordIds.length === 0) return new Map();
      const rows = await read
        .selectFrom('record')
        .select(['id', 'title', 'file_id', 'url'])
        .select(fileOfRecord)
        .where('id', 'in', recordIds)
        .where('project_id', '=', projectId)
        .where('status', '<>', 'deleting')
        .execute();
      return new Map(rows.map((row) => [row.id, toNamedRecord(row)]));
    },
    list: (projectId, collectionId, query) => listRecords({ read, dialect }, { projectId, collectionId }, query),
    areWaiting: (projectId, most) => {
      const rows = read.selectFrom('record').select('id').where('project_id', '=', projectId);
      // The literal must match the index, because a partial index is not used for a parameter.
      const waiting = rows.where('status', '=', sql.lit('creating')).orderBy('key_id');
      return areAtLeast(waiting.orderBy('claim_order').orderBy('id'), most);
    },
    countByStatus: async () => {
      const counted = read.selectFrom('record').select((row) => ['status', row.fn.countAll().as('records')]);
      const rows = await counted.groupBy('status').execute();
      return new Map(rows.map(({ status, records }) => [status as RecordStatus, Number(records)])); // only these are written
    },
    retryNow: async (key, now) => {
      await write
        .updateTable('record')
        .set({ run_after: now })
        .where('id', '=', key.recordId)
        .where('collection_id', '=', key.collectionId)
        .where('project_id', '=', key.projectId)
        .where('status', '=', 'creating')
        .where('run_after', '>', now)
        .execute();
    },
    cancel: async (key, { failure, now }) =>
      (await update(
        key,
        {
          ...free,
          ...failedColumns({ code: failure.code, message: failure.message, details: null, report: null }),
          made: null,
          attempt: 0,
          run_after: now,
          updated_at: now,
        },
        { status: 'creating' },
      )) === 1n,
    change: async (key, change) => (await update(key, toChange(change), { from: change.remake?.from })) === 1n,
    // No chunk has generation -1, so after this commit no list and no search returns any chunk of the record.
    markDeleting: async (key, now) =>
      (await update(key, {
        ...free,
        status: 'deleting',
        stage: 'sweeping',
        generation: -1,
        attempt: 0,
        run_after: now,
        updated_at: now,
      })) === 1n,
  };

  async function update(
    key: RecordKey,
    set: UpdateObject<Tables, 'record'>,
    condition: Condition = {},
  ): Promise<bigint> {
    const { status, from } = condition;
    const result = await write
      .updateTable('record')
      .set(set)
      .where('id', '=', key.recordId)
      .where('collection_id', '=', key.collectionId)
      .where('project_id', '=', key.projectId)
      .where('status', '<>', 'deleting')
      .$if(status !== undefined, (update) => update.where('status', '=', status ?? ''))
      .$if(from !== undefined, (update) => update.where((row) => row.and(from === undefined ? [] : comparisons(from))))
      .executeTakeFirst();
    return result.numUpdatedRows;
  }
}

async function addRecord(transaction: Transaction<Tables>, record: NewRecord): Promise<boolean> {
  const collection = await lockCollection(transaction, record.collectionId);
  if (collection === undefined) return false;
  const row = { ...toRow(record), chunking_version: collection.chunking_version };
  await transaction.insertInto('record').values(row).execute();
  return true;
}

type NameColumns = Pick<Selectable<RecordTable>, 'title' | 'file_id' | 'url'> & { readonly file: string | null };

function toNamedRecord({ title, file_id: fileId, url, file }: NameColumns): NamedRecord {
  return { title, fileId, fileName: file === null ? null : readFileName(file), url };
}

function liveRecords(read: Kysely<Tables>) {
  return read.selectFrom('record').selectAll().where('status', '<>', 'deleting');
}

async function listRecords(
  { read, dialect }: Pick<Database, 'read' | 'dialect'>,
  of: { projectId: string; collectionId: string },
  query: RecordListQuery,
) {
  const filters = recordFilters(query, { dialect, projectId: of.projectId });
  const ofCollection = () =>
    liveRecords(read).where('collection_id', '=', of.collectionId).where('project_id', '=', of.projectId);
  const readPage = (window: KeysetWindow) => {
    let page = ofCollection()
      .clearSelect()
      .select(['id', rowWeight({ texts: ['content'], json: ['metadata', 'report'] })]);
    for (const filter of filters) page = page.where(filter);
    for (const bound of window.bounds) page = page.where('id', bound.compare, bound.id);
    page = page.orderBy('id', window.direction).limit(window.limit);
    return read
      .selectFrom(withWeightBefore(read, page.as('page'), window.direction))
      .innerJoin('record', 'record.id', 'page_rows.id')
      .selectAll('record')
      .select('page_rows.found')
      .where('page_rows.before', '<', maxPageWeight)
      .orderBy('record.id', window.direction)
      .execute();
  };
  const page = await readKeysetPage(query, readPage, () => countRecords({ read, dialect }, of, query));
  return { ...page, items: page.items.map(toRecord) };
}

/** Conditions on records, in addition to the one that they are not deleted. */
interface Condition {
  readonly status?: RecordStatus;
  readonly from?: RecordSource | undefined;
}

/** Treats null as equal to null. */
function comparisons(source: RecordSource) {
  const { eb } = expressionBuilder<Tables, 'record'>();
  const columns = sourceColumns(source);
  const names = Object.keys(columns) as Array<keyof typeof columns>; // `columns` has only its own members
  return names.map((name) => eb(name, 'is not distinct from', columns[name]));
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
const free = { lease_owner: null, lease_until: null, encrypted_password: null };

function toChange({ metadata, remake, updatedAt }: RecordChange): Updateable<RecordTable> {
  return {
    updated_at: updatedAt,
    ...(metadata === undefined
      ? {}
      : { metadata: JSON.stringify(metadata), metadata_changed: 1, metadata_reached: null }),
    ...(remake === undefined ? {} : { ...sourceColumns(remake.source), ...waiting(updatedAt, remake) }),
  };
}

type Work = Omit<NonNullable<RecordChange['remake']>, 'from'>;

function waiting(now: number, { source, keyId = null, deadlineAt, encryptedPassword = null }: Work) {
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

function toRow(record: NewRecord): Insertable<RecordTable> {
  return {
    id: record.id,
    project_id: record.projectId,
    collection_id: record.collectionId,
    ...sourceColumns(record),
    ...waiting(record.createdAt, { ...record, source: record }),
    keyed_to: null,
    metadata: JSON.stringify(record.metadata),
    metadata_changed: 0,
    metadata_reached: null,
    generation: 0,
    num_chunks: 0,
    created_at: record.createdAt,
    updated_at: record.createdAt,
  };
}

function toRecord(row: Selectable<RecordTable>): StoredRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    collectionId: row.collection_id,
    ...toSource(row),
    metadata: parseJson(row.metadata) as Record<string, string>, // written by toRow
    status: row.status as RecordStatus, // written by this module
    stage: row.stage,
    percent: row.percent,
    attempt: row.attempt,
    numChunks: row.num_chunks,
    error: toFailure(row),
    report: row.report === null ? null : (parseJson(row.report) as Record<string, unknown>), // written by the jobs
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toFailure(row: Selectable<RecordTable>): RecordFailure | null {
  if (row.error_code === null) return null;
  const failure = { code: row.error_code, message: row.error_message ?? '' };
  if (row.error_details === null) return failure;
  return { ...failure, details: parseJson(row.error_details) as RecordFailureDetails }; // written by the jobs
}

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
import { parseJson } from '../../../platform/json/parse-json.ts';
import type {
  NewRecord,
  RecordChange,
  RecordKey,
  RecordRepository,
  RecordSource,
  StoredRecord,
} from '../../../stores/collections/records/record-repository.ts';
import type { RecordTable } from '../../database/collection-tables.ts';
import { bytesOfRecord, countBytes } from '../../database/counted-bytes.ts';
import type { Database } from '../../database/database.ts';
import { type KeysetWindow, readKeysetPage, readWeighedPage, rowWeight } from '../../database/keyset-page.ts';
import { areAtLeast } from '../../database/row-limit.ts';
import type { Tables } from '../../database/tables.ts';
import { namesOfRecord } from '../../database/visible-chunks.ts';
import { changeWithUsage, growWithin } from '../project-usage.ts';
import { isReady, lockCollection } from './lock-collection.ts';
import { failedColumns } from './rechunking.ts';
import { restoreRecord } from './restore-record.ts';
import {
  countRecords,
  free,
  recordFilters,
  sourceColumns,
  sourceNames,
  toNamedRecord,
  toSource,
  waiting,
} from './source-columns.ts';

/**
 * Stores records in either database.
 * @param quota the maximum number of bytes of a project; null without a limit
 */
export function createRecordRepository(
  { read, write, dialect }: Database,
  quota: number | null = null,
): RecordRepository {
  return {
    add: (record) =>
      dialect === 'postgres' && quota === null
        ? changeWithUsage(write, insertion(record))
        : write.transaction().execute((transaction) => addRecord(transaction, record, quota)),
    async find(key) {
      const row = await liveRecords(read)
        .select(recordColumns)
        .where('id', '=', key.recordId)
        .where('collection_id', '=', key.collectionId)
        .where('project_id', '=', key.projectId)
        .where(isReady(key))
        .executeTakeFirst();
      return row === undefined ? undefined : toRecord(row);
    },
    async name(projectId, recordIds) {
      if (recordIds.length === 0) return new Map();
      const rows = await read
        .selectFrom('record')
        .select(['id', ...namesOfRecord])
        .where('id', 'in', recordIds)
        .where('project_id', '=', projectId)
        .where('status', '<>', 'deleting')
        .execute();
      return new Map(rows.map((row) => [row.id, toNamedRecord(row)]));
    },
    list: (projectId, collectionId, query) => listRecords({ read, dialect }, { projectId, collectionId }, query),
    areWaiting: (projectId, most) => areAtLeast(waitingOf(read, projectId), most),
    findReachedLimit: (of, most) => findReachedLimit(read, of, most),
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
    // No chunk has a negative generation, so after this commit no list and no search returns any chunk of the record.
    markDeleting: async (key, now, until) =>
      (await update(key, {
        ...free,
        status: 'deleting',
        stage: 'sweeping',
        generation: sql<number>`-1 - generation`,
        deleted_from: until === undefined ? null : sql<string>`status`,
        attempt: 0,
        run_after: until ?? now,
        updated_at: now,
      })) === 1n,
    restore: (key, at) =>
      write.transaction().execute((transaction) => restoreRecord(transaction, { key, quota, ...at })),
  };

  function update(key: RecordKey, set: UpdateObject<Tables, 'record'>, condition: Condition = {}): Promise<bigint> {
    return write.transaction().execute(async (transaction) => {
      const before = await lockRecord(transaction, key, condition);
      if (before === undefined) return 0n;
      const rows = transaction.updateTable('record').set(set).where('id', '=', key.recordId);
      const after = await rows.returning(bytesOfRecord.as('bytes')).executeTakeFirstOrThrow();
      const bytes = Number(after.bytes) - Number(before.bytes);
      await growWithin(transaction, { projectId: key.projectId, quota }, { what: 'record', bytes });
      return 1n;
    });
  }
}

async function findReachedLimit(
  read: Kysely<Tables>,
  { projectId, collectionId }: Pick<RecordKey, 'projectId' | 'collectionId'>,
  { records, waitingRecords }: Parameters<RecordRepository['findReachedLimit']>[1],
) {
  const ofCollection = read.selectFrom('record').select('id').where('collection_id', '=', collectionId);
  const present = ofCollection.where('status', '<>', 'deleting').orderBy('status').orderBy('id');
  const waiting = waitingOf(read, projectId).offset(waitingRecords - 1);
  const reached = await read
    .selectNoFrom([
      present
        .offset(records - 1)
        .limit(1)
        .as('records'),
      waiting.limit(1).as('waitingRecords'),
    ])
    .executeTakeFirstOrThrow();
  return (['records', 'waitingRecords'] as const).find((limit) => reached[limit] !== null);
}

function waitingOf(read: Kysely<Tables>, projectId: string) {
  const rows = read.selectFrom('record').select('id').where('project_id', '=', projectId);
  // The literal must match the index, because a partial index is not used for a parameter.
  return rows.where('status', '=', sql.lit('creating')).orderBy('key_id').orderBy('claim_order').orderBy('id');
}

/** Locks a record that is not deleted, by an update that changes nothing. @returns undefined when there is none */
function lockRecord(transaction: Transaction<Tables>, key: RecordKey, { status, from }: Condition) {
  return transaction
    .updateTable('record')
    .set((row) => ({ stage: row.ref('stage') }))
    .where('id', '=', key.recordId)
    .where('collection_id', '=', key.collectionId)
    .where('project_id', '=', key.projectId)
    .where('status', '<>', 'deleting')
    .$if(status !== undefined, (update) => update.where('status', '=', status ?? ''))
    .$if(from !== undefined, (update) => update.where((row) => row.and(from === undefined ? [] : comparisons(from))))
    .returning(bytesOfRecord.as('bytes'))
    .executeTakeFirst();
}

async function addRecord(transaction: Transaction<Tables>, record: NewRecord, quota: number | null): Promise<boolean> {
  const collection = await lockCollection(transaction, record.collectionId);
  if (collection === undefined) return false;
  const row = { ...toRow(record), chunking_version: collection.chunking_version };
  await transaction.insertInto('record').values(row).execute();
  const bytes = countBytes('record', [row]);
  await growWithin(transaction, { projectId: record.projectId, quota }, { what: 'record', bytes });
  return true;
}

/** Inserts the record and locks its collection with one statement of PostgreSQL. Inserts nothing without the collection. */
function insertion(record: NewRecord) {
  const row = toRow(record);
  return sql`insert into record (${sql.join(Object.keys(row).map((name) => sql.ref(name)))}, chunking_version)
    select ${sql.join(Object.values(row))}, chunking_version from collection
    where id = ${record.collectionId} and status = 'ready' for no key update
    returning project_id, ${countBytes('record', [row])}::bigint as record_bytes`;
}

/** The columns of {@link toRecord}, half of them all. PostgreSQL describes each column in each answer. */
const recordColumns = [
  ...sourceNames,
  ...(['id', 'project_id', 'collection_id', 'metadata', 'status', 'stage', 'percent', 'attempt'] as const),
  ...(['num_chunks', 'error_code', 'error_message', 'error_details', 'report', 'created_at', 'updated_at'] as const),
] as const;
type RecordRow = Pick<Selectable<RecordTable>, (typeof recordColumns)[number]>;

const liveRecords = (read: Kysely<Tables>) => read.selectFrom('record').where('status', '<>', 'deleting');

async function listRecords(
  { read, dialect }: Pick<Database, 'read' | 'dialect'>,
  of: { projectId: string; collectionId: string },
  query: RecordListQuery,
) {
  const filters = recordFilters(query, { dialect, projectId: of.projectId });
  const all = query.status === 'deleting' ? read.selectFrom('record') : liveRecords(read);
  let rows = all.where('project_id', '=', of.projectId).where(isReady(of));
  for (const filter of filters) rows = rows.where(filter);
  const weight = rowWeight({ texts: ['content'], json: ['metadata', 'report'] });
  const by = { collection_id: of.collectionId, ...(query.status === undefined ? {} : { status: query.status }) };
  const records = { table: 'record', columns: recordColumns, weight, owned: { dialect, by } } as const;
  const readPage = (window: KeysetWindow) =>
    readWeighedPage<RecordRow, 'record'>({ read, dialect }, rows, { ...records, window });
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

function toChange({ metadata, remake, updatedAt }: RecordChange): Updateable<RecordTable> {
  return {
    updated_at: updatedAt,
    ...(metadata === undefined
      ? {}
      : { metadata: JSON.stringify(metadata), metadata_changed: 1, metadata_reached: null }),
    ...(remake === undefined ? {} : { ...sourceColumns(remake.source), ...waiting(updatedAt, remake) }),
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

function toRecord(row: RecordRow): StoredRecord {
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

function toFailure(row: RecordRow): RecordFailure | null {
  if (row.error_code === null) return null;
  const failure = { code: row.error_code, message: row.error_message ?? '' };
  if (row.error_details === null) return failure;
  return { ...failure, details: parseJson(row.error_details) as RecordFailureDetails }; // written by the jobs
}

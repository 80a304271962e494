import { type Kysely, sql, type Transaction } from 'kysely';
import type { RechunkBounds, RechunkRepository, RechunkStep } from '../../../stores/ingestion/rechunker.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { lockCollection } from './lock-collection.ts';

/** Finds the records to split again in either database. ADR 0156. */
export function createRechunkRepository({ read, write }: Database): RechunkRepository {
  return {
    async step(afterCollection, bounds) {
      const next = await read
        .selectFrom('collection')
        .select('id')
        // The literal must match the index, because a partial index is not used for a parameter.
        .where('rechunking', '=', sql.lit(1))
        .where('status', '=', 'ready')
        .where('id', '>', afterCollection)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      if (next === undefined) return undefined;
      return write.transaction().execute((transaction) => examine(transaction, next.id, bounds));
    },
  };
}

async function examine(transaction: Transaction<Tables>, id: string, bounds: RechunkBounds): Promise<RechunkStep> {
  const collection = await lockCollection(transaction, id);
  const nothing = { collectionId: id, queued: [], numExamined: 0, isDone: false };
  if (collection === undefined) return nothing;
  const free = bounds.inProgress - (await countInProgress(transaction, id));
  if (free <= 0) return nothing;
  const version = collection.chunking_version;
  const rows = await outdated(transaction, id, version)
    .select(['id', 'status', 'type', 'text_splitter', 'chunks_changed', 'num_chunks'])
    .where('status', '<>', 'creating')
    .orderBy('chunking_version')
    .orderBy('id')
    .limit(bounds.examined)
    // A change of a chunk locks its record before the collection, so a wait for the record could be a deadlock.
    .forUpdate()
    .skipLocked()
    .execute();
  const reasons = rows.map((row) => ({ id: row.id, keeps: reasonToKeep(row) }));
  const queued = reasons.filter(({ keeps }) => keeps === undefined).slice(0, free);
  const examined = reasons.flatMap(({ id, keeps }) => (keeps === undefined ? [] : [{ id, keeps }]));
  for (const [kept, some] of Map.groupBy(examined, ({ keeps }) => keeps)) {
    await transaction
      .updateTable('record')
      .set({ chunking_version: version, chunking_kept: kept })
      .where(
        'id',
        'in',
        some.map((record) => record.id),
      )
      .execute();
  }
  const ids = queued.map((record) => record.id);
  if (ids.length > 0) await enqueue(transaction, ids, bounds);
  const isDone = rows.length === examined.length && !(await isAnyOutdated(transaction, id, version));
  if (isDone) await transaction.updateTable('collection').set({ rechunking: 0 }).where('id', '=', id).execute();
  return { collectionId: id, queued: ids, numExamined: examined.length, isDone };
}

interface Examined {
  readonly status: string;
  readonly type: string;
  readonly text_splitter: string | null;
  readonly chunks_changed: number;
  readonly num_chunks: number;
}

/** @returns undefined for a record to split again, null for one that the settings do not concern, otherwise the reason */
function reasonToKeep(record: Examined): string | null | undefined {
  if (record.text_splitter !== null || record.type === 'qa_sheet') return null;
  if (record.status === 'error') return record.num_chunks > 0 ? 'failed' : null;
  if (record.type === 'web') return 'web_page';
  return record.chunks_changed === 1 ? 'chunks_changed' : undefined;
}

function outdated(db: Kysely<Tables>, collectionId: string, version: number) {
  return db
    .selectFrom('record')
    .where('collection_id', '=', collectionId)
    .where('chunking_version', '<', version)
    .where('status', '<>', 'deleting');
}

async function isAnyOutdated(db: Kysely<Tables>, collectionId: string, version: number): Promise<boolean> {
  const row = await outdated(db, collectionId, version).select('id').limit(1).executeTakeFirst();
  return row !== undefined;
}

async function countInProgress(db: Kysely<Tables>, collectionId: string): Promise<number> {
  const row = await db
    .selectFrom('record')
    .select(sql<number>`count(*)`.as('records'))
    .where('collection_id', '=', collectionId)
    .where('rechunked_from', 'is not', null)
    .executeTakeFirstOrThrow();
  return Number(row.records);
}

/** New records of the project are claimed first for an hour. */
const claimDelayMs = 60 * 60_000;

async function enqueue(
  transaction: Transaction<Tables>,
  ids: readonly string[],
  { now, deadlineAt }: RechunkBounds,
): Promise<void> {
  await transaction
    .updateTable('record')
    .set({
      rechunked_from: sql<string>`status`,
      chunking_kept: null,
      status: 'creating',
      stage: 'queued',
      percent: 0,
      made: null,
      attempt: 0,
      worked_ms: 0,
      lease_owner: null,
      lease_until: null,
      run_after: now,
      claim_order: now + claimDelayMs,
      deadline_at: deadlineAt,
    })
    .where('id', 'in', ids)
    .execute();
}

/** What a record had before its chunks were to be replaced, and why they are not. */
export interface EndedRechunk {
  readonly rechunkedFrom: string;
  /** Null when the new chunks are equal. */
  readonly reason: string | null;
  readonly version: number;
}

/** The columns of a record that keeps its chunks. The chunks of the unfinished generation are swept. */
export function keptColumns({ rechunkedFrom, reason, version }: EndedRechunk) {
  return {
    status: rechunkedFrom,
    stage: 'sweeping',
    percent: 100,
    rechunked_from: null,
    chunking_kept: reason,
    chunking_version: version,
  };
}

interface StoredFailureColumns {
  readonly code: string;
  readonly message: string;
  /** JSON; null for none. */
  readonly details: string | null;
  readonly report: string | null;
  /** The version for which the record was examined. Default: that of its collection. */
  readonly version?: number;
}

/**
 * The columns of a record whose processing ends without new chunks: the status `error`, or the former status, report and
 * chunks when the chunks were being replaced for new settings. The chunks of the unfinished generation are swept.
 */
export function failedColumns({ code, message, details, report, version }: StoredFailureColumns) {
  const unlessRechunked = (value: string | null) =>
    sql<string | null>`case when rechunked_from is null then ${value} end`;
  const current = version === undefined ? versionOfCollection : sql<number>`${sql.lit(version)}`;
  return {
    status: sql<string>`coalesce(rechunked_from, 'error')`,
    stage: 'sweeping',
    error_code: unlessRechunked(code),
    error_message: unlessRechunked(message),
    error_details: unlessRechunked(details),
    report: sql<string | null>`case when rechunked_from is null then ${report} else report end`,
    chunking_kept: sql<string | null>`case when rechunked_from is null then chunking_kept else ${code} end`,
    chunking_version: sql<number>`case when rechunked_from is null then chunking_version else ${current} end`,
    rechunked_from: null,
  };
}

const versionOfCollection = sql<number>`(select collection.chunking_version from collection where collection.id = record.collection_id)`;

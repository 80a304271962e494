import { isDeepStrictEqual } from 'node:util';
import { sql, type Transaction } from 'kysely';
import type { Claim } from '../../../platform/jobs/job.ts';
import type { NewChunk } from '../../../stores/collections/chunks/chunk-repository.ts';
import { maxCapacity } from '../../../stores/collections/collection-repository.ts';
import type {
  IngestedRecord,
  Publication,
  RecordJob,
  RecordJobRepository,
} from '../../../stores/ingestion/record-job-repository.ts';
import type { Database } from '../../database/database.ts';
import { isHeldBy, noLease, renewLease } from '../../database/lease.ts';
import type { Tables } from '../../database/tables.ts';
import { changeUsage, findUsage, totalOf } from '../project-usage.ts';
import { areChunksEqual, copyVectors, type PreparedChunks, prepareNext, toOwner } from './chunk-rows.ts';
import { claimRecord } from './claim-record.ts';
import {
  changeHeld,
  checkQuota,
  failHeld,
  type HeldRecord,
  type HeldSums,
  hold,
  idle,
  updateHeld,
} from './held-record.ts';
import { countChunks, fitsCapacity, lockCollection, readLocked } from './lock-collection.ts';
import { countReplaced, findExistingKeys, isOvertaken, replaceRivals } from './pair-duplicates.ts';
import { firstKeyedTo, insertKeys, isKeyBatchDue, removeKeys } from './pair-keys.ts';
import { keptColumns } from './rechunking.ts';
import { insertRows, sweepRows } from './record-rows.ts';
import { wantVectors } from './vector-repository.ts';
import { dropVectors } from './vector-sets.ts';

/**
 * Stores the jobs of records in either database. Only the claim differs by dialect.
 * @param quota the maximum number of bytes of a project; null without a limit
 */
export function createRecordJobRepository(database: Database, quota: number | null = null): RecordJobRepository {
  const { write } = database;
  return {
    claim: (claim) => claimRecord(database, claim),
    endLeases: async () => {
      await write
        .updateTable('record')
        .set({ lease_until: 0 })
        .where('status', '=', 'creating')
        .where('lease_owner', 'is not', null)
        .execute();
    },
    renew: (held, { stage, percent, leaseUntil, workedMs }) => {
      const set = { stage, percent, lease_until: leaseUntil, worked_ms: workedMs };
      return renewLease(database, { table: 'record', key: 'id' }, held, set);
    },
    addChunks: (job, chunks, leaseUntil) => addChunks(database, job, { chunks, leaseUntil, quota }),
    addRows: (job, rows, leaseUntil) =>
      write.transaction().execute(async (transaction) => {
        if ((await hold(transaction, job)) === undefined) return false;
        const bytes = await insertRows(transaction, job, rows);
        const set = { row_bytes: sql<number>`row_bytes + ${bytes}`, ...extended(leaseUntil) };
        const held = await updateHeld(transaction, job, set);
        if (held === undefined) return false;
        const used = totalOf(await changeUsage(transaction, job.projectId, { recordBytes: bytes }));
        await checkQuota(transaction, { job, held, limit: quota }, { used, chunks: 0 });
        return true;
      }),
    saveCheckpoint: (job, ingested) =>
      write.transaction().execute(async (transaction) => {
        const row = await hold(transaction, job);
        if (row !== undefined) await changeHeld(transaction, { job, row }, { made: JSON.stringify(ingested) });
        return row !== undefined;
      }),
    findExistingKeys: (of, rowKeys) => findExistingKeys(database.read, of, rowKeys),
    remainingCapacity: async (job) => {
      // The number of replaced pairs of other records is known only at the end.
      if (job.capacity >= maxCapacity || job.onDuplicate === 'replace') return job.capacity;
      return job.capacity - (await countChunks(write, job.collectionId, job.id));
    },
    publish: async (job, ingested, unwritten = []) => {
      if (unwritten.length > 0) await database.untilMerged?.(job.collectionId);
      const prepared = await prepareNext(database, job, unwritten);
      return write
        .transaction()
        .execute((transaction) => publish(database, transaction, { job, ingested, quota, prepared }));
    },
    fail: (job, failure, more) =>
      write.transaction().execute((transaction) => failHeld(transaction, job, { failure, quota, ...more })),
    requeue: async (held, { runAfter, attempt, workedMs }) => {
      await write
        .updateTable('record')
        .set((column) => ({
          ...noLease,
          run_after: runAfter,
          attempt,
          ...(workedMs === undefined ? {} : { worked_ms: workedMs }),
          stage: column.case().when('status', '=', 'creating').then('queued').else(column.ref('stage')).end(),
        }))
        .where('id', '=', held.id)
        .where(isHeldBy(held))
        .execute();
    },
    sweep: (held, part) =>
      write.transaction().execute((transaction) => sweep(database, transaction, { held, ...part })),
  };
}

interface ChunkBatch {
  readonly chunks: readonly NewChunk[];
  readonly leaseUntil: number | undefined;
  readonly quota: number | null;
}

async function addChunks(database: Database, job: RecordJob, batch: ChunkBatch): Promise<boolean> {
  const { chunks } = batch;
  await database.untilMerged?.(job.collectionId);
  const row = await writeChunks(database, job, batch);
  if (row === undefined || !isKeyBatchDue(row.keyed_to, chunks)) return row !== undefined;
  return database.write.transaction().execute(async (transaction) => {
    const held = await hold(transaction, job);
    if (held !== undefined) await insertKeys(transaction, { job, keyedTo: held.keyed_to });
    return held !== undefined;
  });
}

/** @returns undefined when the lease is lost */
async function writeChunks(database: Database, job: RecordJob, batch: ChunkBatch) {
  const { chunks, leaseUntil, quota } = batch;
  const prepared = await prepareNext(database, job, chunks);
  return database.write.transaction().execute(async (transaction) => {
    const row = await hold(transaction, job);
    if (row === undefined) return;
    const written = await insertNext(database, transaction, { job, row, prepared });
    const held = await updateHeld(transaction, job, { ...written, ...extended(leaseUntil) });
    if (held === undefined || quota === null) return held;
    // Stops a large record early. The publication checks again, because other records may use the same room.
    const used = await findUsage(transaction, job.projectId);
    await checkQuota(transaction, { job, held, limit: quota }, { used, chunks: growthOf(held) });
    return held;
  });
}

interface NextChunks {
  readonly job: RecordJob;
  readonly row: HeldRecord & Parameters<typeof toOwner>[1];
  readonly prepared: PreparedChunks;
}

/** Writes chunks of the next generation. @returns the columns of the record that change */
async function insertNext({ dialect }: Database, transaction: Transaction<Tables>, { job, row, prepared }: NextChunks) {
  // The record may have changed since its claim.
  const owner = toOwner(job.id, row);
  const { bytes, insert } = isDeepStrictEqual(owner, prepared.owner) ? prepared : await prepared.again(owner);
  await insert(transaction);
  return {
    next_bytes: Number(row.next_bytes) + bytes,
    keyed_to: row.keyed_to ?? firstKeyedTo(dialect, prepared.chunks),
  };
}

const extended = (leaseUntil: number | undefined) => (leaseUntil === undefined ? {} : { lease_until: leaseUntil });

interface Publishing {
  readonly job: RecordJob;
  readonly ingested: IngestedRecord;
  /** The chunks of a small record; none when all are written. */
  readonly prepared: PreparedChunks;
  readonly quota: number | null;
}

async function publish(
  database: Database,
  transaction: Transaction<Tables>,
  { job, ingested, prepared, quota }: Publishing,
): Promise<Publication> {
  const held = await hold(transaction, job);
  if (held === undefined) return { kind: 'lost' };
  const row = { ...held, ...(await insertNext(database, transaction, { job, row: held, prepared })) };
  const kept = await keepChunks(transaction, { job, ingested, row });
  if (kept !== undefined) return { kind: 'kept', reason: kept };
  await insertKeys(transaction, { job, keyedTo: row.keyed_to });
  // All other work on the collection waits for this lock, so it comes after the writing of the chunks.
  const collection = await lockCollection(transaction, row.collection_id);
  if (collection === undefined) return { kind: 'lost' };
  const pairs = { dialect: database.dialect, job };
  if (job.onDuplicate === 'skip' && (await isOvertaken(transaction, pairs, ingested.since ?? 0))) {
    // The document that was read is outdated. The next attempt compares with the pairs of other records again.
    await changeHeld(transaction, { job, row }, { made: null });
    return { kind: 'overtaken' };
  }
  const counts = job.onDuplicate === 'replace' ? await countReplaced(transaction, pairs) : new Map<string, number>();
  const { indexed, hasVectors } = await readLocked(transaction, row.collection_id);
  const target = { collectionId: row.collection_id, capacity: collection.capacity, indexed };
  const gone = counts.values().reduce((sum, count) => sum + count, 0);
  const addition = { unwritten: 0, added: ingested.numChunks, without: job.id, gone };
  if (!(await fitsCapacity(transaction, target, addition))) return { kind: 'full' };
  const removed = await replaceRivals(transaction, pairs, { counts, now: ingested.now });
  if (hasVectors && row.generation > 0) await copyVectors(transaction, generationsOf(job, row));
  if (hasVectors) {
    const first = prepared.chunks[0]?.id ?? (await findFirst(transaction, job));
    if (first !== undefined) await wantVectors(transaction, row.collection_id, first);
  }
  const replaced = row.generation > 0;
  const chunks = growthOf(row) - removed;
  const set = {
    ...idle(ingested.now),
    status: ingested.status,
    stage: replaced ? 'sweeping' : 'done',
    percent: 100,
    generation: row.generation + 1,
    num_chunks: ingested.numChunks,
    stored_bytes: Number(row.next_bytes),
    next_bytes: 0,
    chunking_version: ingested.chunkingVersion ?? 0,
    chunking_kept: null,
    chunks_changed: 0 as const,
    rechunked_from: null,
    report: JSON.stringify(ingested.report),
    updated_at: ingested.now,
  };
  const atOnce = database.dialect === 'postgres' && quota === null;
  const used = await changeHeld(transaction, { job, row, chunks, atOnce }, set);
  await checkQuota(transaction, { job, held: row, limit: quota }, { used, chunks, isCounted: true });
  return { kind: 'published', sweep: replaced || counts.size > 0 };
}

/** The bytes by which the visible chunks grow when the next generation replaces them. */
const growthOf = ({ next_bytes: next, stored_bytes: stored }: HeldSums) => Number(next) - Number(stored);

const generationsOf = (job: RecordJob, { collection_id: collectionId, generation }: HeldRecord) => ({
  recordId: job.id,
  collectionId,
  generation,
});

/** Ends the replacement of chunks for new settings when it would change nothing, or lose the change of a request. */
async function keepChunks(
  transaction: Transaction<Tables>,
  { job, ingested, row }: { job: RecordJob; ingested: IngestedRecord; row: HeldRecord },
): Promise<'unchanged' | 'chunks_changed' | undefined> {
  if (row.rechunked_from === null) return undefined;
  const isChanged = row.chunks_changed === 1;
  if (!isChanged && !(await areChunksEqual(transaction, generationsOf(job, row), ingested.numChunks))) return undefined;
  const reason = isChanged ? 'chunks_changed' : null;
  const end = { rechunkedFrom: row.rechunked_from, reason, version: ingested.chunkingVersion ?? 0 };
  await changeHeld(transaction, { job, row }, { ...idle(ingested.now), ...keptColumns(end) });
  return reason ?? 'unchanged';
}

/** The new generation has no vectors yet. Its chunks were written in the order of their ids. */
async function findFirst(transaction: Transaction<Tables>, job: RecordJob): Promise<string | undefined> {
  const first = await transaction
    .selectFrom('chunk')
    .select('id')
    .where('record_id', '=', job.id)
    .where('generation', '=', job.generation + 1)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();
  return first?.id;
}

async function sweep(
  { dialect, searchIndex }: Database,
  transaction: Transaction<Tables>,
  { held, limit, leaseUntil }: { held: Claim; limit: number; leaseUntil: number },
): Promise<'more' | 'done' | 'lost'> {
  const row = await updateHeld(transaction, held, { lease_until: leaseUntil, deleted_from: null });
  if (row === undefined) return 'lost';
  const removed = await transaction
    .selectFrom('chunk')
    .select(['seq', 'collection_id', 'row_key'])
    .where('record_id', '=', held.id)
    .where((where) => where.or([where('generation', '<', row.generation), where('generation', '>', row.generation)]))
    .limit(limit)
    .execute();
  if (removed.length > 0) {
    const seqs = removed.map((chunk) => chunk.seq);
    await dropVectors(transaction, row.collection_id, seqs);
    await transaction.deleteFrom('chunk').where('seq', 'in', seqs).execute();
    await removeKeys(transaction, dialect, removed);
    await searchIndex.remove(transaction, row.collection_id, seqs);
  }
  if (removed.length === limit) return 'more';
  const shown = row.status === 'error' ? row.generation + 1 : row.generation;
  const rows = await sweepRows(transaction, { recordId: held.id, shown, limit });
  const isLast = rows.count < limit;
  if (isLast && row.status === 'deleting') await transaction.deleteFrom('record').where('id', '=', held.id).execute();
  else if (rows.bytes > 0) await updateHeld(transaction, held, { row_bytes: Number(row.row_bytes) - rows.bytes });
  const whole = Number(row.stored_bytes) + Number(row.row_bytes) + Number(row.own_bytes);
  const gone = isLast && row.status === 'deleting' ? whole : rows.bytes;
  if (gone > 0) await changeUsage(transaction, row.project_id, { recordBytes: -gone });
  if (!isLast) return 'more';
  if (row.status !== 'deleting' && row.status !== 'creating') {
    await updateHeld(transaction, held, { ...noLease, stage: 'done', attempt: 0 });
  }
  return 'done';
}

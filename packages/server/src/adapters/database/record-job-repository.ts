import { type Kysely, sql, type Transaction, type UpdateObject } from 'kysely';
import type { NewChunk } from '../../collections/chunk-repository.ts';
import { maxCapacity } from '../../collections/collection-repository.ts';
import type {
  Held,
  MadeRecord,
  Publication,
  RecordJob,
  RecordJobRepository,
  WorkProgress,
} from '../../collections/record-job-repository.ts';
import { insertChunks } from './chunk-rows.ts';
import { claimRecord } from './claim-record.ts';
import type { Database } from './database.ts';
import { countChunks, hasRoom, lockCollection } from './lock-collection.ts';
import { countReplaced, findTaken, isOvertaken, replaceRivals } from './pair-duplicates.ts';
import { areManyWaiting, enterKeys, noKeys, removeKeys } from './pair-keys.ts';
import { insertRows, sweepRows } from './record-rows.ts';
import type { Tables } from './tables.ts';
import { wantVectors } from './vector-repository.ts';

/** The work on records over either database; only the claim differs by dialect. */
export function createRecordJobRepository(database: Database): RecordJobRepository {
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
    report: (held, progress) => report(database, held, progress),
    addChunks: (job, chunks) => addChunks(database, job, chunks),
    addRows: (job, rows) =>
      write.transaction().execute(async (transaction) => {
        if ((await hold(transaction, job)) === undefined) return false;
        await insertRows(transaction, job, rows);
        return true;
      }),
    keepMade: async (job, made) => (await updateHeld(write, job, { made: JSON.stringify(made) })) !== undefined,
    findTaken: (of, rowKeys) => findTaken(database.read, of, rowKeys),
    room: (job) =>
      write.transaction().execute(async (transaction) => {
        const collection = await lockCollection(transaction, job.collectionId);
        if (collection === undefined) return 0;
        if (collection.capacity >= maxCapacity) return maxCapacity;
        // How many of the others it will replace is known at the end only.
        if (job.onDuplicate === 'replace') return collection.capacity;
        return collection.capacity - (await countChunks(transaction, job.collectionId, job.id));
      }),
    publish: (job, made) => write.transaction().execute((transaction) => publish(transaction, job, made)),
    fail: async (job, failure, { report, now }) =>
      (await updateHeld(write, job, {
        ...idle(now),
        status: 'error',
        // What was written of the unfinished generation is swept; nobody saw it.
        stage: 'sweeping',
        error_code: failure.code,
        error_message: failure.message,
        report: report === null ? null : JSON.stringify(report),
        updated_at: now,
      })) !== undefined,
    giveBack: async (held, { runAfter, attempt, workedMs }) => {
      await write
        .updateTable('record')
        .set((column) => ({
          lease_owner: null,
          lease_until: null,
          run_after: runAfter,
          attempt,
          ...(workedMs === undefined ? {} : { worked_ms: workedMs }),
          stage: column.case().when('status', '=', 'creating').then('queued').else(column.ref('stage')).end(),
        }))
        .where('id', '=', held.id)
        .where('lease_owner', '=', held.token)
        .execute();
    },
    sweep: (held, part) =>
      write.transaction().execute((transaction) => sweep(database, transaction, { held, ...part })),
  };
}

/** A transaction of this process may hold the record just now: nothing waits for it on the one connection for leases. */
async function report({ leases, dialect }: Database, held: Held, progress: WorkProgress): Promise<boolean> {
  const { stage, percent, leaseUntil, workedMs } = progress;
  const mine = leases.selectFrom('record').select('id').where('id', '=', held.id).where('lease_owner', '=', held.token);
  const kept = await leases
    .updateTable('record')
    .set({ stage, percent, lease_until: leaseUntil, worked_ms: workedMs })
    .where('id', 'in', dialect === 'postgres' ? mine.forUpdate().skipLocked() : mine)
    .returning('id')
    .executeTakeFirst();
  return kept !== undefined || (await mine.executeTakeFirst()) !== undefined;
}

async function addChunks(database: Database, job: RecordJob, chunks: readonly NewChunk[]): Promise<boolean> {
  const row = await writeChunks(database, job, chunks);
  if (row === undefined || !areManyWaiting(row.keyed_to, chunks)) return row !== undefined;
  return database.write.transaction().execute(async (transaction) => {
    const held = await hold(transaction, job);
    if (held !== undefined) await enterKeys(transaction, { job, keyedTo: held.keyed_to });
    return held !== undefined;
  });
}

/** @returns undefined when the claim is lost */
async function writeChunks({ dialect, write, fullText }: Database, job: RecordJob, chunks: readonly NewChunk[]) {
  const { projectId, collectionId, id: recordId } = job;
  const place = { projectId, collectionId, recordId, generation: job.generation + 1 };
  const haveKeys = chunks.some(({ rowKey }) => rowKey !== undefined);
  const keyedTo = sql<number | null>`coalesce(keyed_to, ${haveKeys ? noKeys : null})`;
  return write.transaction().execute(async (transaction) => {
    const held = await updateHeld(transaction, job, { lease_owner: job.token, keyed_to: keyedTo });
    if (held !== undefined) await insertChunks(transaction, { dialect, fullText }, { place, chunks });
    return held;
  });
}

/** Nobody works on it and nothing was tried. */
const idle = (now: number) => ({
  ...{ made: null, lease_owner: null, lease_until: null },
  ...{ attempt: 0, worked_ms: 0, run_after: now },
});

/** Proves the claim and keeps the row until the transaction ends: a new holder waits, and then starts from what is there. */
function hold(db: Kysely<Tables>, held: Held) {
  return updateHeld(db, held, { lease_owner: held.token });
}

function updateHeld(db: Kysely<Tables>, held: Held, set: UpdateObject<Tables, 'record'>) {
  return db
    .updateTable('record')
    .set(set)
    .where('id', '=', held.id)
    .where('lease_owner', '=', held.token)
    .returning(['status', 'generation', 'collection_id', 'keyed_to'])
    .executeTakeFirst();
}

async function publish(transaction: Transaction<Tables>, job: RecordJob, made: MadeRecord): Promise<Publication> {
  const row = await hold(transaction, job);
  const collection = row && (await lockCollection(transaction, row.collection_id));
  if (row === undefined || collection === undefined) return { kind: 'lost' };
  await enterKeys(transaction, { job, keyedTo: row.keyed_to });
  if (job.onDuplicate === 'skip' && (await isOvertaken(transaction, job, made.since ?? 0))) {
    // What was read is void: the next try has to look at the pairs of the others again.
    await updateHeld(transaction, job, { made: null });
    return { kind: 'overtaken' };
  }
  const counts = job.onDuplicate === 'replace' ? await countReplaced(transaction, job) : new Map<string, number>();
  const room = { collectionId: row.collection_id, capacity: collection.capacity };
  const gone = counts.values().reduce((sum, count) => sum + count, 0);
  const addition = { unwritten: 0, added: made.numChunks, without: job.id, gone };
  if (!(await hasRoom(transaction, room, addition))) return { kind: 'full' };
  await replaceRivals(transaction, job, { counts, now: made.now });
  if (made.lacksVectors === true) await wantVectors(transaction, row.collection_id);
  const replaced = row.generation > 0;
  await updateHeld(transaction, job, {
    ...idle(made.now),
    status: made.status,
    stage: replaced ? 'sweeping' : 'done',
    percent: 100,
    generation: row.generation + 1,
    num_chunks: made.numChunks,
    report: JSON.stringify(made.report),
    updated_at: made.now,
  });
  return { kind: 'published', sweep: replaced || counts.size > 0 };
}

async function sweep(
  { dialect, fullText }: Database,
  transaction: Transaction<Tables>,
  { held, limit, leaseUntil }: { held: Held; limit: number; leaseUntil: number },
): Promise<'more' | 'done' | 'lost'> {
  const row = await updateHeld(transaction, held, { lease_until: leaseUntil });
  if (row === undefined) return 'lost';
  const removed = await transaction
    .deleteFrom('chunk')
    .where('seq', 'in', (select) =>
      select
        .selectFrom('chunk')
        .select('seq')
        .where('record_id', '=', held.id)
        .where((where) =>
          where.or([where('generation', '<', row.generation), where('generation', '>', row.generation)]),
        )
        .limit(limit),
    )
    .returning(['seq', 'collection_id', 'row_key'])
    .execute();
  if (removed.length > 0) {
    await removeKeys(transaction, dialect, removed);
    await fullText.remove(
      transaction,
      row.collection_id,
      removed.map((chunk) => chunk.seq),
    );
  }
  if (removed.length === limit) return 'more';
  const shown = row.status === 'error' ? row.generation + 1 : row.generation;
  if ((await sweepRows(transaction, { recordId: held.id, shown, limit })) === limit) return 'more';
  if (row.status === 'deleting') await transaction.deleteFrom('record').where('id', '=', held.id).execute();
  else if (row.status !== 'creating') {
    await updateHeld(transaction, held, { stage: 'done', lease_owner: null, lease_until: null, attempt: 0 });
  }
  return 'done';
}

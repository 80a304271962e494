import { type Kysely, sql, type Transaction } from 'kysely';
import { bytesOfChunk, bytesOfCollection, bytesOfRecord } from '../../database/counted-bytes.ts';
import type { Database } from '../../database/database.ts';
import { countDeleted } from '../../database/deleted-projects.ts';
import type { Tables } from '../../database/tables.ts';
import { changeChunkBytes, changeUsage } from '../project-usage.ts';
import { removeKeys } from './pair-keys.ts';

export interface LockedCollection {
  readonly capacity: number;
  readonly chunking_version: number;
}

/** The project has the collection, and it is not being deleted. As a condition, this needs no statement of its own. */
export const isReady = ({ projectId, collectionId }: { readonly projectId: string; readonly collectionId: string }) =>
  sql<boolean>`exists (select 1 from collection
    where id = ${collectionId} and project_id = ${projectId} and status = 'ready')`;

/**
 * Locks the collection until the transaction ends, so that no other transaction deletes or fills it.
 * @returns undefined when the collection is deleted or being deleted
 */
export async function lockCollection(
  transaction: Transaction<Tables>,
  collectionId: string,
): Promise<LockedCollection | undefined> {
  return transaction
    .selectFrom('collection')
    .select(['capacity', 'chunking_version'])
    .where('id', '=', collectionId)
    .where('status', '=', 'ready')
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** The chunks that would become visible in addition to the existing ones. */
interface Addition {
  /** Number of chunks to add that are not yet in the index. */
  readonly unwritten: number;
  /** Number of all chunks to add. */
  readonly added: number;
  /** The record whose visible chunks are replaced; null when there is none. */
  readonly without: string | null;
  /** Number of visible chunks of other records that are replaced. */
  readonly gone?: number;
}

interface Capacity {
  readonly collectionId: string;
  readonly capacity: number;
  /** The number of chunks in the index, as `readLocked` returns it. */
  readonly indexed: number;
}

/**
 * Reads what other transactions may have changed before this one locked the collection: the number of chunks in its index,
 * and whether its chunks get vectors.
 */
export async function readLocked(transaction: Transaction<Tables>, collectionId: string) {
  const { rows } = await sql<{ indexed: number | null; has_vectors: unknown }>`
    select (select sum(chunks) from index_segment where collection_id = ${collectionId} and state = 'live') as indexed,
      exists (select 1 from collection_vector where collection_id = ${collectionId}) as has_vectors`.execute(
    transaction,
  );
  return { indexed: Number(rows[0]?.indexed ?? 0), hasVectors: Boolean(rows[0]?.has_vectors) };
}

/**
 * Returns whether the visible chunks stay within the capacity. The index counts at least all chunks, including those that
 * are not visible. While that number is within the capacity, no chunks need to be counted.
 */
export async function fitsCapacity(
  transaction: Transaction<Tables>,
  { collectionId, capacity, indexed }: Capacity,
  { unwritten, added, without, gone = 0 }: Addition,
): Promise<boolean> {
  if (indexed + unwritten <= capacity) return true;
  return (await countChunks(transaction, collectionId, without)) - gone + added <= capacity;
}

/**
 * Counts the visible chunks of the collection's records and those created directly. `without` excludes the chunks of
 * one record that are about to be replaced.
 */
export async function countChunks(db: Kysely<Tables>, collectionId: string, without: string | null): Promise<number> {
  let ofRecords = db
    .selectFrom('record')
    .select(sql<number | null>`sum(num_chunks)`.as('chunks'))
    .where('collection_id', '=', collectionId)
    .where('status', '<>', 'deleting');
  if (without !== null) ofRecords = ofRecords.where('id', '<>', without);
  const direct = db
    .selectFrom('chunk')
    .select(sql<number>`count(*)`.as('chunks'))
    .where('collection_id', '=', collectionId)
    .where('record_id', 'is', null);
  const counts = [await ofRecords.executeTakeFirst(), await direct.executeTakeFirst()];
  return counts.reduce((total, count) => total + Number(count?.chunks ?? 0), 0);
}

interface CollectionSweep {
  readonly collectionId: string;
  /** The maximum number of rows that one transaction changes. */
  readonly limit: number;
}

/**
 * Removes a collection that is being deleted, in transactions of bounded size. It first ends all work on records, so
 * that no new rows are written. It then removes the index, the chunks, the records and the collection. An interrupted
 * sweep can be repeated, and two may run concurrently.
 */
export async function sweepCollection(database: Database, sweep: CollectionSweep, signal: AbortSignal): Promise<void> {
  const { write, searchIndex } = database;
  const { collectionId, limit } = sweep;

  await endWork(database, sweep, signal);
  for (let isRemoved = false; !isRemoved; ) {
    signal.throwIfAborted();
    isRemoved = await write.transaction().execute((transaction) => searchIndex.drop(transaction, collectionId));
  }
  await removeChunks(database, sweep, signal);
  const ids = (table: 'record_row' | 'record') =>
    write.selectFrom(table).select('id').where('collection_id', '=', collectionId).limit(limit);
  for (let removed = BigInt(limit); removed === BigInt(limit); ) {
    signal.throwIfAborted();
    const rows = write.deleteFrom('record_row').where('id', 'in', ids('record_row'));
    removed = (await rows.executeTakeFirst()).numDeletedRows;
  }
  for (let removed = limit; removed === limit; ) {
    signal.throwIfAborted();
    removed = await write.transaction().execute(async (transaction) => {
      const rows = transaction.deleteFrom('record').where('id', 'in', ids('record'));
      const records = await rows
        .returning(['project_id', sql<number>`stored_bytes + row_bytes + ${bytesOfRecord}`.as('bytes')])
        .execute();
      const bytes = records.reduce((sum, record) => sum + Number(record.bytes), 0);
      if (records[0] !== undefined) {
        await changeUsage(transaction, records[0].project_id, { recordBytes: -bytes });
        await countDeleted(transaction, records[0].project_id, { records: records.length });
      }
      return records.length;
    });
  }
  await write.transaction().execute(async (transaction) => {
    const row = transaction.deleteFrom('collection').where('id', '=', collectionId).where('status', '=', 'deleting');
    const removed = await row.returning(['project_id', bytesOfCollection.as('bytes')]).executeTakeFirst();
    if (removed === undefined) return;
    await changeUsage(transaction, removed.project_id, { textBytes: -Number(removed.bytes) });
    await countDeleted(transaction, removed.project_id, { collections: 1 });
  });
}

async function removeChunks(
  { write, dialect }: Database,
  { collectionId, limit }: CollectionSweep,
  signal: AbortSignal,
) {
  for (let removed = limit; removed === limit; ) {
    signal.throwIfAborted();
    removed = await write.transaction().execute(async (transaction) => {
      const chunks = await transaction
        .deleteFrom('chunk')
        .where('seq', 'in', (select) =>
          select.selectFrom('chunk').select('seq').where('collection_id', '=', collectionId).limit(limit),
        )
        .returning(['seq', 'collection_id', 'project_id', 'record_id', 'row_key', bytesOfChunk.as('bytes')])
        .execute();
      await removeKeys(transaction, dialect, chunks);
      const direct = chunks.filter(({ record_id }) => record_id === null);
      const bytes = direct.reduce((sum, chunk) => sum + Number(chunk.bytes), 0);
      if (direct[0] !== undefined) {
        await changeChunkBytes(transaction, { projectId: direct[0].project_id, recordId: null }, -bytes);
      }
      // A collection belongs to one project.
      if (chunks[0] !== undefined) await countDeleted(transaction, chunks[0].project_id, { chunks: chunks.length });
      return chunks.length;
    });
  }
}

/** Voids every claim on the collection's records. It waits for transactions that write to one of them. */
async function endWork({ write }: Database, { collectionId, limit }: CollectionSweep, signal: AbortSignal) {
  let last = '';
  for (let ended = limit; ended === limit; ) {
    signal.throwIfAborted();
    const rows = await write
      .updateTable('record')
      .set({ status: 'deleting', stage: 'ending', generation: -1, lease_owner: null, lease_until: null })
      .where('id', 'in', (select) =>
        select
          .selectFrom('record')
          .select('id')
          .where('collection_id', '=', collectionId)
          .where('id', '>', last)
          .orderBy('id')
          .limit(limit),
      )
      .returning('id')
      .execute();
    ended = rows.length;
    last =
      rows
        .map((row) => row.id)
        .sort()
        .at(-1) ?? last;
  }
}

import type { Database } from '../../database/database.ts';
import { removeKeys } from './pair-keys.ts';

export interface CollectionSweep {
  readonly collectionId: string;
  /** Most rows that one transaction touches. */
  readonly limit: number;
}

/**
 * Removes a collection that is being deleted, in transactions of bounded size. The order makes it total: when no
 * record has a holder any more nothing new is written, then the index goes, then the chunks, the records, the
 * collection. Stopped anywhere it may be started again, and run twice at once.
 */
export async function sweepCollection(database: Database, sweep: CollectionSweep, signal: AbortSignal): Promise<void> {
  const { write, fullText } = database;
  const { collectionId, limit } = sweep;

  await endWork(database, sweep, signal);
  for (let gone = false; !gone; ) {
    signal.throwIfAborted();
    gone = await write.transaction().execute((transaction) => fullText.drop(transaction, collectionId, limit));
  }
  await removeChunks(database, sweep, signal);
  for (const table of ['record_row', 'record'] as const) {
    let removed = BigInt(limit);
    while (removed === BigInt(limit)) {
      signal.throwIfAborted();
      const result = await write
        .deleteFrom(table)
        .where('id', 'in', (select) =>
          select.selectFrom(table).select('id').where('collection_id', '=', collectionId).limit(limit),
        )
        .executeTakeFirst();
      removed = result.numDeletedRows;
    }
  }
  await write.deleteFrom('collection').where('id', '=', collectionId).where('status', '=', 'deleting').execute();
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
        .returning(['seq', 'collection_id', 'row_key'])
        .execute();
      await removeKeys(transaction, dialect, chunks);
      return chunks.length;
    });
  }
}

/** Voids every claim on the collection's records; waits for whoever writes to one of them just now. */
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

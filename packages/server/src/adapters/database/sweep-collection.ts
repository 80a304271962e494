import type { Database } from './database.ts';

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
  for (const table of ['chunk', 'record_row', 'record'] as const) {
    const key = table === 'chunk' ? 'seq' : 'id';
    let removed = BigInt(limit);
    while (removed === BigInt(limit)) {
      signal.throwIfAborted();
      const result = await write
        .deleteFrom(table)
        .where(key, 'in', (select) =>
          select.selectFrom(table).select(key).where('collection_id', '=', collectionId).limit(limit),
        )
        .executeTakeFirst();
      removed = result.numDeletedRows;
    }
  }
  await write.deleteFrom('collection').where('id', '=', collectionId).where('status', '=', 'deleting').execute();
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

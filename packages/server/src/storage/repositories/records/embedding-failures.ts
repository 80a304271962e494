import type { ListQuery } from '@quartermaster/contract';
import { type Kysely, sql } from 'kysely';
import type { Page } from '../../../platform/page.ts';
import type { FailedChunk, VectorSetKey } from '../../../stores/search/vector-repository.ts';
import { countRows } from '../../database/count-rows.ts';
import type { Database } from '../../database/database.ts';
import { type KeysetWindow, readKeysetPage } from '../../database/keyset-page.ts';
import type { Tables } from '../../database/tables.ts';
import { changeCounts, lockCounts } from './vector-counts.ts';
import { asChunkVector, setId, vectorTable, wantAll } from './vector-sets.ts';

/** Characters of a text that the list shows. */
const excerptLength = 200;

/** Maximum number of texts that one transaction marks, so that no other writer waits for long. */
const markedAtOnce = 1000;

/**
 * Lists the visible chunks whose text has failed, in the order of their failures, along the index of failed texts.
 * @returns undefined when a cursor is not in the list
 */
export async function listFailures(
  read: Kysely<Tables>,
  of: VectorSetKey,
  query: ListQuery,
): Promise<Page<FailedChunk> | undefined> {
  const cursors = [query.after, query.before].filter((cursor) => cursor !== undefined);
  const places = new Map(cursors.length === 0 ? [] : (await findFailed(read, of, cursors)).map((row) => [row.id, row]));
  if (cursors.some((cursor) => !places.has(cursor))) return undefined;
  const readPage = ({ bounds, direction, limit }: KeysetWindow) => {
    let rows = failedChunks(read, of);
    for (const { compare, id } of bounds) {
      const { change, seq } = places.get(id) ?? { change: 0, seq: 0 };
      rows = rows.where(sql<boolean>`(chunk_vector.change, chunk_vector.seq) ${sql.raw(compare)} (${change}, ${seq})`);
    }
    return rows.orderBy('chunk_vector.change', direction).orderBy('chunk_vector.seq', direction).limit(limit).execute();
  };
  const page = await readKeysetPage(query, readPage, () => countRows(read, failedChunks(read, of)));
  return {
    ...page,
    items: page.items.map(({ change: _, seq: __, reason, ...chunk }) => ({ ...chunk, reason: reason ?? '' })),
  };
}

function findFailed(read: Kysely<Tables>, of: VectorSetKey, ids: readonly string[]) {
  const ofCollection = failedChunks(read, of).where('chunk.collection_id', '=', of.collectionId);
  return ofCollection.where('chunk.id', 'in', ids).execute();
}

function failedChunks(read: Kysely<Tables>, { collectionId, slot }: VectorSetKey) {
  return read
    .selectFrom(asChunkVector(slot))
    .innerJoin('collection_vector', (on) => on.on('collection_vector.id', '=', setId({ collectionId, slot })))
    .innerJoin('chunk', 'chunk.seq', 'chunk_vector.seq')
    .leftJoin('record', 'record.id', 'chunk.record_id')
    .select((column) => [
      'chunk_vector.change',
      'chunk_vector.seq',
      'chunk.id',
      'chunk.record_id as recordId',
      sql<string>`substr(${column.fn.coalesce('chunk.question', 'chunk.content')}, 1, ${sql.lit(excerptLength)})`.as(
        'excerpt',
      ),
      'chunk_vector.reason',
      'chunk_vector.failures',
      'chunk_vector.retry_at as retryAt',
    ])
    .where('chunk_vector.collection_id', '=', collectionId)
    .where('chunk_vector.vector', 'is', null)
    .whereRef('chunk_vector.change', '>', 'collection_vector.first_change')
    .where((where) =>
      where.or([
        where('chunk.record_id', 'is', null),
        where.and([
          where('chunk.generation', '=', where.ref('record.generation')),
          where('record.status', '<>', 'deleting'),
        ]),
      ]),
    );
}

/**
 * Makes the next attempt of all failed texts of a set due now, refused ones included. A crash in between leaves some of them
 * as they were.
 */
export async function retryFailures(write: Database['write'], key: VectorSetKey, now: number): Promise<void> {
  let marked = await markSome(write, key, now);
  let update = write
    .updateTable('collection_vector')
    .set({ ...wantAll, run_after: 0 })
    .where('id', '=', setId(key))
    .where('role', '<>', 'kept');
  // A set without failed texts stays complete.
  if (marked === 0) update = update.whereRef('wanted', '>', 'done');
  while (marked === markedAtOnce) marked = await markSome(write, key, now);
  await update.execute();
}

function markSome(write: Database['write'], key: VectorSetKey, now: number): Promise<number> {
  return write.transaction().execute(async (transaction) => {
    const set = await lockCounts(transaction, key);
    if (set === undefined) return 0;
    const failed = await transaction
      .selectFrom(asChunkVector(key.slot))
      .select(['seq', 'retry_at'])
      .where('collection_id', '=', key.collectionId)
      .where('change', '>', set.first_change)
      .where('vector', 'is', null)
      .where((where) => where.or([where('retry_at', 'is', null), where('retry_at', '>', now)]))
      .limit(markedAtOnce)
      .execute();
    if (failed.length === 0) return 0;
    const seqs = failed.map(({ seq }) => seq);
    await transaction.updateTable(vectorTable(key.slot)).set({ retry_at: now }).where('seq', 'in', seqs).execute();
    const refused = failed.filter(({ retry_at }) => retry_at === null).length;
    await changeCounts(transaction, key, { embedded: 0, refused: -refused });
    return failed.length;
  });
}

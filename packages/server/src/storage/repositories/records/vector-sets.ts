import { type Kysely, sql, type Transaction } from 'kysely';
import type { VectorSetKey, VectorSlot, WantedModel } from '../../../stores/search/vector-repository.ts';
import type { Database } from '../../database/database.ts';
import { noLease } from '../../database/lease.ts';
import type { Tables } from '../../database/tables.ts';
import { lockCollection } from './lock-collection.ts';

/*
 * A collection has at most two sets of vectors. The table of a set follows from its slot, so that sets change their roles
 * without moving vectors. Source: ADR 0134.
 */

export const slots = [0, 1] as const satisfies readonly VectorSlot[];

/** The table of the vectors of a set. Both tables have the same columns. */
export const vectorTable = (slot: VectorSlot): 'chunk_vector' | 'second_chunk_vector' =>
  slot === 0 ? 'chunk_vector' : 'second_chunk_vector';

/** The same table as `chunk_vector`, for queries that name its columns. */
export const asChunkVector = (slot: VectorSlot) =>
  (slot === 0 ? 'chunk_vector' : 'second_chunk_vector as chunk_vector') as 'chunk_vector';

/** The id of the row of a set. */
export const setId = ({ collectionId, slot }: VectorSetKey) => (slot === 0 ? collectionId : `${collectionId}.1`);

/** Any chunk may lack its vector. */
export const wantAll = { wanted: sql<number>`wanted + 1`, restart: '' };

/** A set that is kept is not embedded. */
const stopped = { done: sql<number>`wanted`, reached: null, attempt: 0, ...noLease };

/**
 * Begins to build vectors of the model beside those in use, or continues to build vectors that exist. Does nothing when
 * they are being built already. When the model is in use, it stops building vectors of another model. It begins again instead of
 * continuing vectors whose dimensions are not those of the model.
 */
export async function prepareSet(
  write: Database['write'],
  collectionId: string,
  { model, dimensions }: WantedModel,
): Promise<void> {
  await write.transaction().execute(async (transaction) => {
    if ((await lockCollection(transaction, collectionId)) === undefined) return;
    const sets = await lockSets(transaction, collectionId);
    const live = sets.find(({ role }) => role === 'live');
    const other = sets.find(({ role }) => role !== 'live');
    if (live === undefined) return;
    const change = async (id: string, values: object) =>
      void (await transaction.updateTable('collection_vector').set(values).where('id', '=', id).execute());
    const fits = other !== undefined && (dimensions === null || [0, dimensions].includes(other.dimensions));
    if (fits && other.role === 'next' && other.model === model) return change(other.id, { run_after: 0 });
    if (other?.role === 'next' && other.model !== model && live.model === model)
      return change(other.id, { role: 'kept', ...stopped });
    if (fits && other.role === 'kept' && other.model === model && live.model !== model) {
      return change(other.id, { role: 'next', ...wantAll, run_after: 0 });
    }
    const empty = emptySet(model, Math.max(...sets.map(({ last_change }) => last_change)));
    if (live.last_change === live.first_change) return change(live.id, empty);
    if (other !== undefined) return change(other.id, { role: 'next', ...empty });
    const key = { collectionId, slot: live.slot === 0 ? 1 : 0 } as const;
    await transaction
      .insertInto('collection_vector')
      .values({
        id: setId(key),
        collection_id: collectionId,
        slot: key.slot,
        role: 'next',
        project_id: live.project_id,
        ...empty,
        wanted: 1,
        done: 0,
      })
      .execute();
  });
}

/** The vectors of the slot up to this change are no longer valid. They are replaced one by one. */
function emptySet(model: string, change: number) {
  const first = change + 1;
  return {
    model,
    dimensions: 0,
    first_change: first,
    last_change: first,
    ...wantAll,
    reached: null,
    attempt: 0,
    ...noLease,
    run_after: 0,
    num_embedded: 0,
    num_refused: 0,
    error_reason: null,
    error_at: null,
    error_retry_at: null,
  };
}

/** Puts the set that is complete into use, and keeps the former one. */
export async function swapSets(transaction: Transaction<Tables>, collectionId: string): Promise<void> {
  await transaction
    .updateTable('collection_vector')
    .set({ role: 'kept', ...stopped })
    .where('collection_id', '=', collectionId)
    .where('role', '=', 'live')
    .execute();
  await transaction
    .updateTable('collection_vector')
    .set({ role: 'live' })
    .where('collection_id', '=', collectionId)
    .where('role', '=', 'next')
    .execute();
}

/** Locks the sets of a collection in the order of their slots, as every transaction that changes both does. */
export async function lockSets(transaction: Transaction<Tables>, collectionId: string) {
  const found = [];
  for (const slot of slots) {
    const row = await transaction
      .updateTable('collection_vector')
      .set((column) => ({ model: column.ref('model') }))
      .where('collection_id', '=', collectionId)
      .where('slot', '=', slot)
      .returningAll()
      .executeTakeFirst();
    if (row !== undefined) found.push(row);
  }
  return found;
}

/*
 * The counts of a set of vectors are stored in its row of `collection_vector`. Every transaction that writes or deletes vectors
 * first locks this row and then changes both. The counts are of the vectors after `first_change`. ADR 0136.
 */

interface VectorCounts {
  readonly embedded: number;
  readonly refused: number;
}

/** Which of the texts is embedded or refused. A failed text that waits for its next attempt is neither. */
export function countVectors(rows: ReadonlyArray<{ hasVector: boolean; retryAt: number | null }>): VectorCounts {
  const embedded = rows.filter(({ hasVector }) => hasVector).length;
  const waiting = rows.filter(({ hasVector, retryAt }) => !hasVector && retryAt !== null).length;
  return { embedded, refused: rows.length - embedded - waiting };
}

/** Counts the stored vectors of these chunks. The caller has locked the row of the collection. */
export async function countStored(
  transaction: Transaction<Tables>,
  seqs: readonly number[],
  { slot, firstChange }: { readonly slot: VectorSlot; readonly firstChange: number },
): Promise<VectorCounts> {
  const rows = await transaction
    .selectFrom(asChunkVector(slot))
    .select(['change', 'retry_at', sql<number>`case when vector is null then 0 else 1 end`.as('has_vector')])
    .where('seq', 'in', seqs)
    .execute();
  const current = rows.filter(({ change }) => change > firstChange);
  return countVectors(current.map((row) => ({ hasVector: Number(row.has_vector) === 1, retryAt: row.retry_at })));
}

export async function changeCounts(
  transaction: Transaction<Tables>,
  key: VectorSetKey,
  { embedded, refused }: VectorCounts,
): Promise<void> {
  if (embedded === 0 && refused === 0) return;
  await transaction
    .updateTable('collection_vector')
    .set((column) => ({
      num_embedded: column('num_embedded', '+', embedded),
      num_refused: column('num_refused', '+', refused),
    }))
    .where('id', '=', setId(key))
    .execute();
}

/** Locks the row of a set. An update that changes nothing does this in both dialects. */
export function lockCounts(transaction: Transaction<Tables>, key: VectorSetKey) {
  return transaction
    .updateTable('collection_vector')
    .set((column) => ({ num_embedded: column.ref('num_embedded') }))
    .where('id', '=', setId(key))
    .returning('first_change')
    .executeTakeFirst();
}

/** Deletes the vectors of chunks whose text has changed or that are about to be deleted. */
export async function dropVectors(
  transaction: Transaction<Tables>,
  collectionId: string,
  seqs: readonly number[],
): Promise<void> {
  if (seqs.length === 0) return;
  for (const slot of slots) {
    const space = await lockCounts(transaction, { collectionId, slot });
    if (space === undefined) continue;
    const { embedded, refused } = await countStored(transaction, seqs, { slot, firstChange: space.first_change });
    await transaction.deleteFrom(vectorTable(slot)).where('seq', 'in', seqs).execute();
    await changeCounts(transaction, { collectionId, slot }, { embedded: -embedded, refused: -refused });
  }
}

/** Counts all vectors of a set. The duration grows with their number. @returns undefined without the set */
export async function recount(
  db: Kysely<Tables>,
  key: VectorSetKey,
): Promise<{ readonly stored: VectorCounts; readonly counted: VectorCounts } | undefined> {
  const vectors = sql.table(vectorTable(key.slot));
  const { rows } = await sql<{ stored_embedded: number; stored_refused: number; vectors: number; refused: number }>`
    select num_embedded as stored_embedded, num_refused as stored_refused,
      (select count(*) from ${vectors} where collection_id = space.collection_id and change > space.first_change)
        - (select count(*) from ${vectors}
          where collection_id = space.collection_id and change > space.first_change and vector is null) as vectors,
      (select count(*) from ${vectors} where collection_id = space.collection_id and change > space.first_change
        and vector is null and retry_at is null) as refused
    from collection_vector space where id = ${setId(key)}`.execute(db);
  const [row] = rows;
  return (
    row && {
      stored: { embedded: Number(row.stored_embedded), refused: Number(row.stored_refused) },
      counted: { embedded: Number(row.vectors), refused: Number(row.refused) },
    }
  );
}

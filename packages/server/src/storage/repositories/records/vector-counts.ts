import { type Kysely, sql, type Transaction } from 'kysely';
import type { VectorSetKey, VectorSlot } from '../../../stores/search/vector-repository.ts';
import type { Tables } from '../../database/tables.ts';
import { asChunkVector, setId, slots, vectorTable } from './vector-sets.ts';

/*
 * The counts of a set of vectors are stored in its row of `collection_vector`. Every transaction that writes or deletes vectors
 * first locks this row and then changes both. The counts are of the vectors after `first_change`. ADR 0136.
 */

export interface VectorCounts {
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

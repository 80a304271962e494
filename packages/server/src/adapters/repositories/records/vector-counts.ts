import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from '../../database/tables.ts';

/*
 * The counts of a collection are stored in its row of `collection_vector`. Every transaction that writes or deletes vectors
 * first locks this row and then changes both. The counts are of the vectors after `first_change`. ADR 0129.
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
  firstChange: number,
): Promise<VectorCounts> {
  const rows = await transaction
    .selectFrom('chunk_vector')
    .select(['change', 'retry_at', sql<number>`case when code is null then 0 else 1 end`.as('has_vector')])
    .where('seq', 'in', seqs)
    .execute();
  const current = rows.filter(({ change }) => change > firstChange);
  return countVectors(current.map((row) => ({ hasVector: Number(row.has_vector) === 1, retryAt: row.retry_at })));
}

export async function changeCounts(
  transaction: Transaction<Tables>,
  collectionId: string,
  { embedded, refused }: VectorCounts,
): Promise<void> {
  if (embedded === 0 && refused === 0) return;
  await transaction
    .updateTable('collection_vector')
    .set((column) => ({
      num_embedded: column('num_embedded', '+', embedded),
      num_refused: column('num_refused', '+', refused),
    }))
    .where('collection_id', '=', collectionId)
    .execute();
}

/** Locks the row of a collection. An update that changes nothing does this in both dialects. */
export function lockCounts(transaction: Transaction<Tables>, collectionId: string) {
  return transaction
    .updateTable('collection_vector')
    .set((column) => ({ num_embedded: column.ref('num_embedded') }))
    .where('collection_id', '=', collectionId)
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
  const space = await lockCounts(transaction, collectionId);
  if (space === undefined) return;
  const { embedded, refused } = await countStored(transaction, seqs, space.first_change);
  await transaction.deleteFrom('chunk_vector').where('seq', 'in', seqs).execute();
  await changeCounts(transaction, collectionId, { embedded: -embedded, refused: -refused });
}

/** Counts all vectors of a collection. The duration grows with their number. @returns undefined without a model */
export async function recount(
  db: Kysely<Tables>,
  collectionId: string,
): Promise<{ readonly stored: VectorCounts; readonly counted: VectorCounts } | undefined> {
  const { rows } = await sql<{ stored_embedded: number; stored_refused: number; vectors: number; refused: number }>`
    select num_embedded as stored_embedded, num_refused as stored_refused,
      (select count(*) from chunk_vector where collection_id = space.collection_id and change > space.first_change)
        - (select count(*) from chunk_vector
          where collection_id = space.collection_id and change > space.first_change and code is null) as vectors,
      (select count(*) from chunk_vector where collection_id = space.collection_id and change > space.first_change
        and code is null and retry_at is null) as refused
    from collection_vector space where collection_id = ${collectionId}`.execute(db);
  const [row] = rows;
  return (
    row && {
      stored: { embedded: Number(row.stored_embedded), refused: Number(row.stored_refused) },
      counted: { embedded: Number(row.vectors), refused: Number(row.refused) },
    }
  );
}

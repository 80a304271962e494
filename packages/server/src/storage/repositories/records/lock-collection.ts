import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import { sumSegments } from '../../search-index/sum-segments.ts';

export interface LockedCollection {
  readonly capacity: number;
  readonly chunking_version: number;
}

/**
 * Locks the collection until the transaction ends, so that no other transaction deletes or fills it. An update that
 * changes nothing does this in both dialects.
 * @returns undefined when the collection is deleted or being deleted
 */
export async function lockCollection(
  transaction: Transaction<Tables>,
  collectionId: string,
): Promise<LockedCollection | undefined> {
  return transaction
    .updateTable('collection')
    .set((column) => ({ capacity: column.ref('capacity') }))
    .where('id', '=', collectionId)
    .where('status', '=', 'ready')
    .returning(['capacity', 'chunking_version'])
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

/**
 * Returns whether the visible chunks stay within the capacity. The index counts at least all chunks, including those that
 * are not visible. While that number is within the capacity, no chunks need to be counted.
 */
export async function fitsCapacity(
  transaction: Transaction<Tables>,
  { collectionId, capacity }: { readonly collectionId: string; readonly capacity: number },
  { unwritten, added, without, gone = 0 }: Addition,
): Promise<boolean> {
  const indexed = await sumSegments(transaction, collectionId);
  if (indexed + unwritten <= capacity) return true;
  return (await countChunks(transaction, collectionId, without)) - gone + added <= capacity;
}

/**
 * Counts the visible chunks of the collection's records and those created directly. `without` excludes the chunks of
 * one record that are about to be replaced.
 */
export async function countChunks(
  transaction: Transaction<Tables>,
  collectionId: string,
  without: string | null,
): Promise<number> {
  let ofRecords = transaction
    .selectFrom('record')
    .select(sql<number | null>`sum(num_chunks)`.as('chunks'))
    .where('collection_id', '=', collectionId)
    .where('status', '<>', 'deleting');
  if (without !== null) ofRecords = ofRecords.where('id', '<>', without);
  const direct = transaction
    .selectFrom('chunk')
    .select(sql<number>`count(*)`.as('chunks'))
    .where('collection_id', '=', collectionId)
    .where('record_id', 'is', null);
  const counts = [await ofRecords.executeTakeFirst(), await direct.executeTakeFirst()];
  return counts.reduce((total, count) => total + Number(count?.chunks ?? 0), 0);
}

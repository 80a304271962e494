import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import { findStatistics } from '../../full-text/full-text-statistics.ts';

export interface LockedCollection {
  readonly capacity: number;
}

/**
 * Holds the collection until the transaction ends, so that it is neither deleted nor filled by somebody else meanwhile.
 * An update that changes nothing does it in both dialects. @returns undefined when it is gone or being deleted.
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
    .returning('capacity')
    .executeTakeFirst();
}

/** The chunks that would be visible beside those that are there. */
interface Addition {
  /** Chunks to add that are not in the index yet. */
  readonly unwritten: number;
  /** All chunks to add. */
  readonly added: number;
  /** The record whose visible chunks are replaced. */
  readonly without: string | null;
  /** Visible chunks of other records that are replaced. */
  readonly gone?: number;
}

/**
 * Whether the visible chunks stay within the capacity. The index counts all chunks, those that are not visible as well: as long as
 * that number is within the capacity, nothing needs to be counted.
 */
export async function hasRoom(
  transaction: Transaction<Tables>,
  { collectionId, capacity }: { readonly collectionId: string; readonly capacity: number },
  { unwritten, added, without, gone = 0 }: Addition,
): Promise<boolean> {
  const stored = await findStatistics(transaction, collectionId);
  if ((stored?.chunks ?? 0) + unwritten <= capacity) return true;
  return (await countChunks(transaction, collectionId, without)) - gone + added <= capacity;
}

/**
 * Chunks of the collection that count: the visible ones of its records, and those made directly. `without` leaves the
 * chunks of one record out, because they are about to be replaced.
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

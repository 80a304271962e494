import { type Kysely, sql, type Transaction } from 'kysely';
import type { Claim } from '../../../platform/jobs/job.ts';
import { StoredTooMuch } from '../../../stores/ingestion/stored-bytes.ts';
import { bytesOfRow } from '../../database/counted-bytes.ts';
import type { Tables } from '../../database/tables.ts';

/** The sums of a record that is being processed. */
export interface HeldSums {
  readonly generation: number;
  readonly stored_bytes: number;
  readonly next_bytes: number;
  readonly row_bytes: number;
}

interface Growth {
  /** The bytes that the project uses. */
  readonly used: number;
  /** The bytes by which the visible chunks grow; negative when they shrink. Not yet in `used` unless `isCounted`. */
  readonly chunks: number;
  readonly isCounted?: boolean;
}

/**
 * Ends the processing of a record that would exceed the quota of its project. The rows of the visible generation do not
 * count, because they are deleted when the record ends. A record that does not grow is never refused.
 * @throws StoredTooMuch
 */
export async function checkQuota(
  transaction: Transaction<Tables>,
  { job, held, limit }: { readonly job: Claim; readonly held: HeldSums; readonly limit: number | null },
  { used, chunks, isCounted = false }: Growth,
): Promise<void> {
  const then = used + (isCounted ? 0 : chunks);
  if (limit === null || then <= limit) return;
  const replaced = await countRowBytesUpTo(transaction, job.id, held.generation);
  const grows = chunks + Number(held.row_bytes) - 2 * replaced > 0;
  if (grows && then - replaced > limit) throw new StoredTooMuch('quota_exceeded');
}

async function countRowBytesUpTo(db: Kysely<Tables>, recordId: string, generation: number): Promise<number> {
  const { bytes } = await db
    .selectFrom('record_row')
    .select(sql<number>`coalesce(sum(${bytesOfRow}), 0)`.as('bytes'))
    .where('record_id', '=', recordId)
    .where('generation', '<=', generation)
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

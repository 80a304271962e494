import type { RecordFailure } from '@quartermaster/contract';
import { type Kysely, sql, type Transaction, type UpdateObject } from 'kysely';
import type { Claim } from '../../../platform/jobs/job.ts';
import type { RecordJob } from '../../../stores/ingestion/record-job-repository.ts';
import { StoredTooMuch } from '../../../stores/ingestion/stored-bytes.ts';
import { bytesOfRecord, bytesOfRow } from '../../database/counted-bytes.ts';
import { isHeldBy, noLease } from '../../database/lease.ts';
import type { Tables } from '../../database/tables.ts';
import { changeUsage, changeWithUsage, totalOf } from '../project-usage.ts';
import { ownerColumns } from './chunk-rows.ts';
import { failedColumns } from './rechunking.ts';

/** Clears the lease and the attempt count. */
export const idle = (now: number) => ({
  ...noLease,
  encrypted_password: null,
  made: null,
  attempt: 0,
  worked_ms: 0,
  run_after: now,
});

const heldColumns = [
  ...(['status', 'generation', 'collection_id', 'keyed_to', 'rechunked_from', 'chunks_changed'] as const),
  ...(['project_id', 'stored_bytes', 'next_bytes', 'row_bytes'] as const),
] as const;

/**
 * Checks the lease and locks the row until the transaction ends. A new holder waits and then starts from the stored
 * state.
 */
export function hold(db: Kysely<Tables>, held: Claim) {
  return db
    .selectFrom('record')
    .select(heldColumns)
    .select([...ownerColumns, bytesOfRecord.as('own_bytes')])
    .where('id', '=', held.id)
    .where(isHeldBy(held))
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function updateHeld(db: Kysely<Tables>, held: Claim, set: UpdateObject<Tables, 'record'>) {
  return db
    .updateTable('record')
    .set(set)
    .where('id', '=', held.id)
    .where(isHeldBy(held))
    .returning(heldColumns)
    .returning(bytesOfRecord.as('own_bytes'))
    .executeTakeFirst();
}

export type HeldRecord = NonNullable<Awaited<ReturnType<typeof updateHeld>>>;

interface HeldRow {
  readonly job: RecordJob;
  /** The locked row before the change. */
  readonly row: HeldRecord;
  /** The bytes by which the visible chunks grow. Default: 0. */
  readonly chunks?: number;
  /** Whether one statement of PostgreSQL does both, which returns no sums. Default: false. */
  readonly atOnce?: boolean;
}

/**
 * Changes a record whose row is locked, and the sums of its project. A transaction calls it after its last other lock.
 * @returns the bytes that the project then uses; 0 if `atOnce`
 */
export async function changeHeld(
  transaction: Transaction<Tables>,
  { job, row, chunks = 0, atOnce = false }: HeldRow,
  set: UpdateObject<Tables, 'record'>,
): Promise<number> {
  if (atOnce) {
    const bytes = sql<number>`${chunks - Number(row.own_bytes)}::bigint + ${bytesOfRecord}`.as('record_bytes');
    const changed = transaction.updateTable('record').set(set).where('id', '=', job.id).where(isHeldBy(job));
    await changeWithUsage(transaction, sql`${changed.returning(['project_id', bytes])}`);
    return 0;
  }
  const after = await updateHeld(transaction, job, set);
  const texts = Number(after?.own_bytes ?? row.own_bytes) - Number(row.own_bytes);
  return totalOf(await changeUsage(transaction, job.projectId, { recordBytes: chunks + texts }));
}

/** Ends a record in `error`. Its report is left out when it would exceed the quota of the project. */
export async function failHeld(
  transaction: Transaction<Tables>,
  job: RecordJob,
  { failure, report, now, quota }: Failed,
): Promise<boolean> {
  const row = await hold(transaction, job);
  if (row === undefined) return false;
  const columns = {
    code: failure.code,
    message: failure.message,
    details: failure.details === undefined ? null : JSON.stringify(failure.details),
    version: job.chunkingVersion,
  };
  const reported = report === null ? null : JSON.stringify(report);
  const room =
    quota === null ? Number.POSITIVE_INFINITY : quota - totalOf(await changeUsage(transaction, job.projectId, {}));
  const isKept = reported !== null && Buffer.byteLength(reported) <= room;
  const failed = failedColumns({ ...columns, report: isKept ? reported : null });
  await changeHeld(transaction, { job, row }, { ...idle(now), ...failed, updated_at: now });
  return true;
}

interface Failed {
  readonly failure: RecordFailure;
  readonly report: object | null;
  readonly now: number;
  readonly quota: number | null;
}

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

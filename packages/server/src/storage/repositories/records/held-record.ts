import type { RecordFailure } from '@quartermaster/contract';
import type { Kysely, Transaction, UpdateObject } from 'kysely';
import type { Claim } from '../../../platform/jobs/job.ts';
import type { RecordJob } from '../../../stores/ingestion/record-job-repository.ts';
import { bytesOfRecord } from '../../database/counted-bytes.ts';
import { isHeldBy, noLease } from '../../database/lease.ts';
import type { Tables } from '../../database/tables.ts';
import { changeUsage, totalOf } from '../project-usage.ts';
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

/**
 * Checks the lease and locks the row until the transaction ends. A new holder waits and then starts from the stored
 * state.
 */
export function hold(db: Kysely<Tables>, held: Claim, leaseUntil?: number) {
  return updateHeld(db, held, holding(held, leaseUntil));
}

/** The columns that a holder sets to lock its row. */
export function holding(held: Claim, leaseUntil: number | undefined) {
  return { lease_owner: held.token, ...(leaseUntil === undefined ? {} : { lease_until: leaseUntil }) };
}

export function updateHeld(db: Kysely<Tables>, held: Claim, set: UpdateObject<Tables, 'record'>) {
  return db
    .updateTable('record')
    .set(set)
    .where('id', '=', held.id)
    .where(isHeldBy(held))
    .returning(['status', 'generation', 'collection_id', 'keyed_to', 'rechunked_from', 'chunks_changed'])
    .returning(['project_id', 'stored_bytes', 'next_bytes', 'row_bytes', bytesOfRecord.as('own_bytes')])
    .executeTakeFirst();
}

export type HeldRecord = NonNullable<Awaited<ReturnType<typeof hold>>>;

export interface HeldRow {
  readonly job: RecordJob;
  /** The locked row before the change. */
  readonly row: HeldRecord;
  /** The bytes by which the visible chunks grow. Default: 0. */
  readonly chunks?: number;
}

/**
 * Changes a record whose row is locked, and the sums of its project. A transaction calls it after its last other lock.
 * @returns the bytes that the project then uses
 */
export async function changeHeld(
  transaction: Transaction<Tables>,
  { job, row, chunks = 0 }: HeldRow,
  set: UpdateObject<Tables, 'record'>,
): Promise<number> {
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

import type { RecordFailure } from '@quartermaster/contract';
import { type Kysely, type RawBuilder, sql, type Transaction, type UpdateObject } from 'kysely';
import type { Claim } from '../../../platform/jobs/job.ts';
import {
  type IngestedRecord,
  type RecordClaim,
  type RecordJob,
  smallRecordBytes,
} from '../../../stores/ingestion/record-job-repository.ts';
import { StoredTooMuch } from '../../../stores/ingestion/stored-bytes.ts';
import { bytesOfRecord, bytesOfRow } from '../../database/counted-bytes.ts';
import type { Database } from '../../database/database.ts';
import { claimedBy, isClaimable, isFree, isHeldBy, noLease, skipLocked } from '../../database/lease.ts';
import type { Tables } from '../../database/tables.ts';
import { changeUsage, totalOf } from '../project-usage.ts';
import { readChunking } from './collection-repository.ts';
import { failedColumns } from './rechunking.ts';
import { toSource } from './source-columns.ts';

/**
 * Claims the next record. Projects alternate: a row names the project whose record was claimed last. The next claim
 * goes to the following project by id that has a waiting record. The keys of each project alternate likewise. Source: ADR 0006.
 */
export function claimRecord({ dialect, write }: Database, claim: RecordClaim): Promise<RecordJob | undefined> {
  if (claim.kind === 'sweep') return take(write, claim, nextToSweep(dialect, claim));
  return write.transaction().execute(async (transaction) => {
    const turn = transaction.selectFrom('record_turn').select('project_id').where('id', '=', 1);
    // PostgreSQL locks the row, so that two concurrent claims do not serve the same project. SQLite needs no lock.
    const locked = dialect === 'postgres' ? turn.forUpdate() : turn;
    const { project_id: last } = await locked.executeTakeFirstOrThrow();
    const id =
      (await findWaiting(transaction, { dialect, claim, after: last })) ??
      (last === '' ? undefined : await findWaiting(transaction, { dialect, claim, after: '' }));
    if (id === undefined) return undefined;
    const job = await take(transaction, claim, sql<string>`${id}`);
    if (job === undefined) return undefined;
    const { projectId: project_id, keyId: key_id } = job;
    await transaction.updateTable('record_turn').set({ project_id }).execute();
    const remembered = transaction.insertInto('record_key_turn').values({ project_id, key_id });
    await remembered.onConflict((of) => of.column('project_id').doUpdateSet({ key_id })).execute();
    return job;
  });
}

interface Wanted {
  readonly dialect: Database['dialect'];
  readonly claim: RecordClaim;
  /** Only projects with a greater id are searched. */
  readonly after: string;
}

/**
 * Finds the first waiting record of the next key of the first project that has one. The index leads from project to project,
 * so the cost does not depend on the number of waiting records.
 */
async function findWaiting(db: Transaction<Tables>, { dialect, claim, after }: Wanted): Promise<string | undefined> {
  const isSmall = claim.reserved === undefined ? sql`` : sql`and source_bytes <= ${smallRecordBytes}`;
  const isIdle = claim.reserved === 'project' ? sql`and project_id not in (${inProgress('project_id', claim)})` : sql``;
  const isOfIdleKey =
    claim.reserved === 'key'
      ? sql`and key_id not in (${inProgress('key_id', claim)} and project_id = waiting.project_id)`
      : sql``;
  const firstOf = (keys: RawBuilder<boolean>) => sql<string | null>`(
    select id from record where record.project_id = waiting.project_id and status = 'creating' and ${keys}
      and ${isClaimable(claim)} ${isSmall} ${isOfIdleKey}
    order by key_id, claim_order, id limit 1 ${skipLocked(dialect)}
  )`;
  const lastKey = sql`(select key_id from record_key_turn where record_key_turn.project_id = waiting.project_id)`;
  const { rows } = await sql<{ id: string }>`
    with recursive waiting (project_id) as (
      select min(project_id) from record where status = 'creating' and project_id > ${after}
      union all
      select (select min(project_id) from record where status = 'creating' and project_id > waiting.project_id)
      from waiting where waiting.project_id is not null
    ), first (id) as (
      select coalesce(${firstOf(sql`key_id > ${lastKey}`)}, ${firstOf(sql`true`)}) from waiting where project_id is not null ${isIdle}
    )
    select id from first where id is not null limit 1`.execute(db);
  return rows[0]?.id;
}

/** Selects the projects or keys that have a record in progress. */
function inProgress(column: 'project_id' | 'key_id', claim: RecordClaim): RawBuilder<string> {
  return sql`select ${sql.ref(column)} from record
    where lease_owner is not null and not ${isFree('lease_until', claim)} and status = 'creating'`;
}

function nextToSweep(dialect: Database['dialect'], claim: RecordClaim): RawBuilder<string> {
  return sql<string>`(select id from record where stage = 'sweeping' and ${isClaimable(claim)}
    order by run_after, id limit 1 ${skipLocked(dialect)})`;
}

async function take(db: Kysely<Tables>, claim: RecordClaim, id: RawBuilder<string>): Promise<RecordJob | undefined> {
  const row = await db
    .updateTable('record')
    .set(() => ({
      ...claimedBy(claim),
      // An incomplete generation is created again, including its keys.
      keyed_to: sql<number | null>`case when made is null then null else keyed_to end`,
      next_bytes: sql<number>`case when made is null then 0 else next_bytes end`,
    }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const settings = await db
    .selectFrom('collection')
    .select(['chunking', 'chunking_version'])
    .where('id', '=', row.collection_id)
    .executeTakeFirst();
  return {
    id: row.id,
    projectId: row.project_id,
    keyId: row.key_id,
    collectionId: row.collection_id,
    ...toSource(row),
    encryptedPassword: row.encrypted_password,
    token: claim.token,
    attempt: row.attempt,
    deadlineAt: row.deadline_at,
    workedMs: Number(row.worked_ms),
    generation: row.generation,
    chunking: readChunking(settings?.chunking ?? null),
    chunkingVersion: settings?.chunking_version ?? 0,
    isRechunked: row.rechunked_from !== null,
    checkpoint: row.made === null ? null : (JSON.parse(row.made) as IngestedRecord), // written by saveCheckpoint
  };
}

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

interface HeldRow {
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

import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import { projectText, readProject } from '../../platform/project-text.ts';
import type {
  AcceptedRun,
  Heartbeat,
  HeldRun,
  OrphanClaim,
  OrphanedRun,
  RunEnd,
  RunKey,
  RunLease,
  RunRepository,
  StoredResult,
} from '../../tools/runs/run-repository.ts';
import type { Database } from '../database/database.ts';
import { findDeleted } from '../database/deleted-projects.ts';
import { isOver, type LeaseTimes } from '../database/lease.ts';
import type { RunRequestTable, RunTable } from '../database/run-tables.ts';
import type { Tables } from '../database/tables.ts';
import { storeAnswer } from './idempotency-repository.ts';
import { detailText, insertRuns, packRun, toRun } from './run-rows.ts';

type AsynchronousRuns = Pick<
  RunRepository,
  'accept' | 'begin' | 'end' | 'requeue' | 'askToCancel' | 'renew' | 'claimOrphaned' | 'sweepProcesses'
>;

/** Stores runs before they begin: their owner and their request. */
export function createAsynchronousRuns(database: Database): AsynchronousRuns {
  const { write, leases, dialect } = database;
  return {
    accept: (runs, heartbeat) =>
      write.transaction().execute(async (transaction) => {
        const accepted = await acceptRuns(transaction, dialect, runs);
        // Last, because the row stays locked until the commit.
        await writeHeartbeat(transaction, heartbeat);
        return accepted;
      }),
    begin: (runs, { owner, at, until }) =>
      write.transaction().execute(async (transaction) => {
        const begun: boolean[] = [];
        for (const key of runs) {
          const row = { begun_at: at, lease_until: until };
          const result = await underWay(transaction, key).where('lease_owner', '=', owner).set(row).executeTakeFirst();
          begun.push(result.numUpdatedRows === 1n);
        }
        await writeHeartbeat(transaction, { owner, at });
        return begun;
      }),
    end: (key, outcome) => write.transaction().execute((transaction) => endRun(transaction, key, outcome)),
    requeue: (runs, owner) =>
      write.transaction().execute(async (transaction) => {
        for (const key of runs)
          await underWay(transaction, key)
            .where('lease_owner', '=', owner)
            .set({ lease_owner: noOwner, lease_until: 0 })
            .execute();
      }),
    askToCancel: async (projectId, id) => {
      const updated = await underWay(write, { projectId, id }).set({ cancel_asked: 1 }).executeTakeFirst();
      return updated.numUpdatedRows === 1n;
    },
    renew: (heartbeat) => renew(leases, heartbeat),
    claimOrphaned: (lease, claim) => claimOrphanedRuns(database, lease, claim),
    sweepProcesses: (now) => sweepProcesses(write, now),
  };
}

/** The lease owner of a requeued run. It is not null, because a run in progress always has a lease, even an expired one. */
const noOwner = '-';

function underWay(db: Kysely<Tables>, { projectId, id }: RunKey) {
  return db
    .updateTable('run')
    .where('project_id', '=', projectText(projectId))
    .where('id', '=', id)
    .where('outcome', 'is', null);
}

async function acceptRuns(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  runs: readonly AcceptedRun[],
): Promise<boolean[]> {
  const deleted = await findDeleted(
    transaction,
    dialect,
    runs.map(({ run }) => run.projectId),
  );
  const lost = new Set(runs.filter(({ run }) => deleted.has(run.projectId)));
  for (const accepted of runs) {
    if (lost.has(accepted)) continue;
    if (accepted.claim !== null && !(await storeAnswer(transaction, accepted.claim))) lost.add(accepted);
  }
  const remaining = runs.filter((accepted) => !lost.has(accepted));
  if (remaining.length > 0) {
    await insertRuns(
      transaction,
      dialect,
      remaining.map(({ run }) => packRun(run)),
    );
    const rows = remaining.map(({ run, keyId, request }) => ({
      project_id: projectText(run.projectId),
      run_id: run.id,
      key_id: keyId,
      request: request.text,
      attempts: 0,
      sealed: Number(request.isEncrypted),
      repeatable: Number(request.isRepeatable),
    }));
    await transaction.insertInto('run_request').values(rows).execute();
  }
  return runs.map((accepted) => !lost.has(accepted));
}

async function endRun(
  transaction: Transaction<Tables>,
  key: RunKey,
  { owner, end, result }: { owner: string; end: RunEnd; result: StoredResult | null },
): Promise<boolean> {
  const ended = await underWay(transaction, key)
    .where('lease_owner', '=', owner)
    .set({ outcome: end.outcome, detail: detailText(end), lease_owner: null, lease_until: null })
    .executeTakeFirst();
  if (ended.numUpdatedRows !== 1n) return false;
  const place = { project_id: projectText(key.projectId), run_id: key.id };
  await transaction
    .deleteFrom('run_request')
    .where('project_id', '=', place.project_id)
    .where('run_id', '=', place.run_id)
    .execute();
  if (result === null) return true;
  const text = JSON.stringify(result.result);
  const row = { ...place, expires_at: result.expiresAt, bytes: Buffer.byteLength(text), result: text };
  await transaction.insertInto('run_result').values(row).execute();
  return true;
}

/** Renews all runs of the process in one statement. A process without runs writes nothing. */
async function renew(db: Kysely<Tables>, heartbeat: Heartbeat): Promise<HeldRun[]> {
  const rows = await db
    .selectFrom('run')
    .select(['project_id', 'id', 'cancel_asked'])
    .where('outcome', 'is', null)
    // A lease is never negative. The condition makes the index of runs in progress usable.
    .where('lease_until', '>=', 0)
    .where('lease_owner', '=', heartbeat.owner)
    .execute();
  if (rows.length > 0) await writeHeartbeat(db, heartbeat);
  return rows.map((row) => ({
    projectId: readProject(row.project_id),
    id: row.id,
    isCancelAsked: row.cancel_asked === 1,
  }));
}

/** Milliseconds after which the row of an ended process is deleted. The period is much longer than a lease. */
const keptMs = 86_400_000;

/** Writes one row per process. The row renews all runs that the process holds, whatever their number. */
export async function writeHeartbeat(db: Kysely<Tables>, { owner, at }: Heartbeat): Promise<void> {
  await db
    .insertInto('process')
    .values({ id: owner, heartbeat_at: at })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: at }))
    .execute();
}

/**
 * A condition on `run` left joined with `process`. The heartbeat of the owner is older than the length of a lease. A
 * run is also orphaned if its heartbeat is more than one lease in the future. An owner without a row ended long
 * ago, and the lease of its run decides.
 */
export function isOrphaned(times: LeaseTimes): RawBuilder<boolean> {
  const { now, leaseUntil } = times;
  const leaseMs = leaseUntil - now;
  return sql<boolean>`case when process.id is null then ${isOver('run.lease_until', times)}
    else process.heartbeat_at <= ${now - leaseMs} or process.heartbeat_at > ${now + leaseMs} end`;
}

/** Deletes the rows of processes that ended long ago. Runs that they left are orphaned without the row as well. */
async function sweepProcesses(db: Kysely<Tables>, now: number): Promise<void> {
  await db
    .deleteFrom('process')
    .where((eb) => eb.or([eb('heartbeat_at', '<', now - keptMs), eb('heartbeat_at', '>', now + keptMs)]))
    .execute();
}

type OrphanedRow = Selectable<RunTable> & Selectable<Omit<RunRequestTable, 'project_id' | 'run_id'>>;

/**
 * Claims orphaned runs of bundles that are installed in this process. It also claims runs that were cancelled or waited
 * too long, because ending them needs no bundle. Other runs stay for a process that has their bundle.
 */
async function claimOrphanedRuns(
  { read, write, dialect }: Database,
  lease: RunLease,
  request: OrphanClaim,
): Promise<OrphanedRun[]> {
  const found = await orphaned(read, lease, request).select('run.bundle_id').distinct().execute();
  if (found.length === 0) return [];
  const bundleIds = found.map((row) => row.bundle_id).filter(request.hasBundle);
  return await write.transaction().execute(async (transaction) => {
    const claimable = wanted(transaction, { lease, request, bundleIds })
      .innerJoin(rankInTurn(transaction, { lease, request, bundleIds }).as('ranked'), (join) =>
        join.onRef('ranked.project_id', '=', 'run.project_id').onRef('ranked.id', '=', 'run.id'),
      )
      .selectAll('run')
      .select(['run_request.key_id', 'request', 'sealed', 'repeatable', 'attempts'])
      .orderBy('ranked.place')
      .orderBy('run.id')
      .limit(request.limit);
    // SQLite runs one write transaction at a time, so two claims cannot conflict there.
    const rows: OrphanedRow[] = await (dialect === 'sqlite'
      ? claimable
      : claimable.forUpdate(['run', 'run_request']).skipLocked()
    ).execute();
    if (rows.length === 0) return [];
    await assign(transaction, lease, rows);
    await writeHeartbeat(transaction, { owner: lease.owner, at: request.now });
    return rows.map((row) => toOrphanedRun(row, lease));
  });
}

/** A lease is never negative. The condition makes the index of runs in progress usable. */
function orphaned(db: Kysely<Tables>, { owner, until }: RunLease, { now }: OrphanClaim) {
  return db
    .selectFrom('run')
    .leftJoin('process', 'process.id', 'run.lease_owner')
    .where('run.outcome', 'is', null)
    .where('run.lease_until', '>=', 0)
    .where('run.lease_owner', '<>', owner)
    .where(isOrphaned({ now, leaseUntil: until }));
}

interface Wanted {
  readonly lease: RunLease;
  readonly request: OrphanClaim;
  readonly bundleIds: readonly string[];
}

/** The orphaned runs that this process can execute or end. Ending them needs no place. */
function wanted(db: Kysely<Tables>, { lease, request, bundleIds }: Wanted) {
  return orphaned(db, lease, request)
    .innerJoin('run_request', (join) =>
      join.onRef('run_request.project_id', '=', 'run.project_id').onRef('run_request.run_id', '=', 'run.id'),
    )
    .where((eb) => {
      const canEnd = [eb('run.cancel_asked', '=', 1), eb('run.created_at', '<=', request.acceptedBefore)];
      if (bundleIds.length === 0) return eb.or(canEnd);
      const isExcept = request.except.map(
        ({ projectId, keyId }) =>
          sql<boolean>`(run.project_id = ${projectText(projectId)} and coalesce(run_request.key_id, '') = ${keyId ?? ''})`,
      );
      return eb.or([...canEnd, eb.and([eb('run.bundle_id', 'in', bundleIds), eb.not(eb.or(isExcept))])]);
    });
}

/** Numbers the runs of each project, so that its keys alternate. Runs of different projects with the same number alternate. */
function rankInTurn(db: Kysely<Tables>, options: Wanted) {
  const turn = sql<number>`row_number() over (partition by run.project_id, run_request.key_id order by run.id)`;
  const wantedRuns = wanted(db, options).select(['run.project_id', 'run.id', 'run_request.key_id', turn.as('turn')]);
  const place = sql<number>`row_number() over (partition by project_id order by turn, key_id)`;
  return db.selectFrom(wantedRuns.as('wanted_runs')).select(['project_id', 'id', place.as('place')]);
}

/** Assigns all these rows, which this transaction has locked, to the process. */
async function assign(transaction: Transaction<Tables>, lease: RunLease, rows: readonly OrphanedRow[]): Promise<void> {
  await transaction
    .updateTable('run')
    .set({ lease_owner: lease.owner, lease_until: lease.until, begun_at: null })
    .where(isOneOf(sql`(project_id, id)`, rows))
    .execute();
  const begun = rows.filter((row) => row.begun_at !== null);
  if (begun.length === 0) return;
  await transaction
    .updateTable('run_request')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where(isOneOf(sql`(project_id, run_id)`, begun))
    .execute();
}

function isOneOf(key: RawBuilder<unknown>, rows: readonly OrphanedRow[]): RawBuilder<boolean> {
  const keys = rows.map((row) => sql`(${row.project_id}, ${row.id})`);
  return sql<boolean>`${key} in (values ${sql.join(keys)})`;
}

function toOrphanedRun(row: OrphanedRow, lease: RunLease): OrphanedRun {
  return {
    run: { ...toRun(row), lease },
    keyId: row.key_id,
    request: { text: row.request, isEncrypted: row.sealed === 1, isRepeatable: row.repeatable === 1 },
    attempts: row.attempts + (row.begun_at === null ? 0 : 1),
    isCancelAsked: row.cancel_asked === 1,
  };
}

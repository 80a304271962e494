import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import { projectText } from '../../platform/project-text.ts';
import type { Heartbeat, OrphanClaim, OrphanedRun, RunLease } from '../../tools/runs/run-repository.ts';
import type { Database } from '../database/database.ts';
import { isOver, type LeaseTimes } from '../database/lease.ts';
import type { RunRequestTable, RunTable } from '../database/run-tables.ts';
import type { Tables } from '../database/tables.ts';
import { toRun } from './run-rows.ts';

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

type OrphanedRow = Selectable<RunTable> & Selectable<Omit<RunRequestTable, 'project_id' | 'run_id'>>;

/**
 * Claims orphaned runs of bundles that are installed in this process. It also claims runs that were cancelled or waited
 * too long, because ending them needs no bundle. Other runs stay for a process that has their bundle. Without orphaned
 * runs, it claims those that wait at other processes.
 */
export async function claimOrphanedRuns(
  { read, write, dialect }: Database,
  lease: RunLease,
  request: OrphanClaim,
): Promise<OrphanedRun[]> {
  const times = { now: request.now, leaseUntil: lease.until };
  const found = await ofOthers(read, lease)
    .where((eb) => eb.or([isOrphaned(times), ...(request.startable > 0 ? [isWaiting(times)] : [])]))
    .select(['run.bundle_id', sql<number>`case when ${isOrphaned(times)} then 1 else 0 end`.as('orphaned')])
    .distinct()
    .execute();
  for (const orphaned of [1, 0]) {
    const ofKind = found.filter((row) => row.orphaned === orphaned);
    const bundleIds = ofKind.map((row) => row.bundle_id).filter(request.hasBundle);
    if (ofKind.length === 0 || (orphaned === 0 && bundleIds.length === 0)) continue;
    const wanted = { lease, request, bundleIds, isOrphaned: orphaned === 1 };
    const claimed = await write.transaction().execute((transaction) => claim(transaction, dialect, wanted));
    if (claimed.length > 0) return claimed;
  }
  return [];
}

async function claim(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  options: Wanted,
): Promise<OrphanedRun[]> {
  const { lease, request, isOrphaned } = options;
  const claimable = wanted(transaction, options)
    .innerJoin(rankInTurn(transaction, options).as('ranked'), (join) =>
      join.onRef('ranked.project_id', '=', 'run.project_id').onRef('ranked.id', '=', 'run.id'),
    )
    .selectAll('run')
    .select(['run_request.key_id', 'request', 'sealed', 'repeatable', 'attempts'])
    .orderBy('ranked.place')
    .orderBy('run.id')
    .limit(isOrphaned ? request.limit : request.startable);
  // SQLite runs one write transaction at a time, so two claims cannot conflict there.
  const rows: OrphanedRow[] = await (dialect === 'sqlite'
    ? claimable
    : claimable.forUpdate(['run', 'run_request']).skipLocked()
  ).execute();
  if (rows.length === 0) return [];
  await assign(transaction, lease, rows);
  await writeHeartbeat(transaction, { owner: lease.owner, at: request.now });
  return rows.map((row) => ({ ...toOrphanedRun(row, lease), isOrphaned }));
}

/** A lease is never negative. The condition makes the index of runs in progress usable. */
function ofOthers(db: Kysely<Tables>, { owner }: RunLease) {
  return db
    .selectFrom('run')
    .leftJoin('process', 'process.id', 'run.lease_owner')
    .where('run.outcome', 'is', null)
    .where('run.lease_until', '>=', 0)
    .where('run.lease_owner', '<>', owner);
}

/** Milliseconds for which only the process that has accepted or claimed a run begins it. */
const startMs = 1000;

/** A run that its process has not begun. Its lease ends a fixed time after its acceptance. */
function isWaiting({ leaseUntil }: LeaseTimes): RawBuilder<boolean> {
  return sql<boolean>`(run.begun_at is null and run.lease_until <= ${leaseUntil - startMs})`;
}

interface Wanted {
  readonly lease: RunLease;
  readonly request: OrphanClaim;
  readonly bundleIds: readonly string[];
  readonly isOrphaned: boolean;
}

/** The runs that this process can execute or end. Ending them needs no place. */
function wanted(db: Kysely<Tables>, { lease, request, bundleIds, ...options }: Wanted) {
  const times = { now: request.now, leaseUntil: lease.until };
  return ofOthers(db, lease)
    .innerJoin('run_request', (join) =>
      join.onRef('run_request.project_id', '=', 'run.project_id').onRef('run_request.run_id', '=', 'run.id'),
    )
    .where((eb) => {
      const isExcept = request.except.map(
        ({ projectId, keyId }) =>
          sql<boolean>`(run.project_id = ${projectText(projectId)} and coalesce(run_request.key_id, '') = ${keyId ?? ''})`,
      );
      const canRun = () => eb.and([eb('run.bundle_id', 'in', bundleIds), eb.not(eb.or(isExcept))]);
      // A request that is not stored exists only in its process.
      if (!options.isOrphaned) return eb.and([isWaiting(times), eb('request', 'is not', null), canRun()]);
      const canEnd = [eb('run.cancel_asked', '=', 1), eb('run.created_at', '<=', request.acceptedBefore)];
      return eb.and([isOrphaned(times), eb.or(bundleIds.length === 0 ? canEnd : [...canEnd, canRun()])]);
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

function toOrphanedRun(row: OrphanedRow, lease: RunLease): Omit<OrphanedRun, 'isOrphaned'> {
  return {
    run: { ...toRun(row), lease },
    keyId: row.key_id,
    request: { text: row.request, isEncrypted: row.sealed === 1, isRepeatable: row.repeatable === 1 },
    attempts: row.attempts + (row.begun_at === null ? 0 : 1),
    isCancelAsked: row.cancel_asked === 1,
  };
}

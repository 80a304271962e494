import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { OrphanClaim, OrphanedRun, RunLease } from '../../tools/runs/run-repository.ts';
import type { Database } from '../database/database.ts';
import type { RunRequestTable, RunTable } from '../database/run-tables.ts';
import type { Tables } from '../database/tables.ts';
import { isOrphaned, writeHeartbeat } from '../postgres/process-heartbeats.ts';
import { toRun } from './run-rows.ts';

type OrphanedRow = Selectable<RunTable> & Selectable<Omit<RunRequestTable, 'project_id' | 'run_id'>>;

/**
 * Claims orphaned runs of bundles that are installed in this process. It also claims runs that were cancelled or waited
 * too long, because ending them needs no bundle. Other runs stay for a process that has their bundle.
 */
export async function claimOrphanedRuns(
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
          sql<boolean>`(run.project_id = ${projectId} and coalesce(run_request.key_id, '') = ${keyId ?? ''})`,
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

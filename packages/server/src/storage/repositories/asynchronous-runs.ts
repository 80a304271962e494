import type { Kysely, Transaction } from 'kysely';
import { projectText, readProject } from '../../platform/project-text.ts';
import type {
  AcceptedRun,
  Heartbeat,
  HeldRun,
  RunEnd,
  RunKey,
  RunRepository,
  StoredResult,
} from '../../tools/runs/run-repository.ts';
import type { Database } from '../database/database.ts';
import { findDeleted } from '../database/deleted-projects.ts';
import type { Tables } from '../database/tables.ts';
import { claimOrphanedRuns, writeHeartbeat } from './claim-runs.ts';
import { storeAnswer } from './idempotency-repository.ts';
import { detailText, insertRuns, packRun } from './run-rows.ts';

type AsynchronousRuns = Pick<
  RunRepository,
  'accept' | 'begin' | 'end' | 'requeue' | 'askToCancel' | 'renew' | 'listHeld' | 'claimOrphaned' | 'sweepProcesses'
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
    listHeld: (owner) => listHeld(leases, owner),
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
  const held = await listHeld(db, heartbeat.owner);
  if (held.length > 0) await writeHeartbeat(db, heartbeat);
  return held;
}

async function listHeld(db: Kysely<Tables>, owner: string): Promise<HeldRun[]> {
  const rows = await db
    .selectFrom('run')
    .select(['project_id', 'id', 'cancel_asked'])
    .where('outcome', 'is', null)
    // A lease is never negative. The condition makes the index of runs in progress usable.
    .where('lease_until', '>=', 0)
    .where('lease_owner', '=', owner)
    .execute();
  return rows.map((row) => ({
    projectId: readProject(row.project_id),
    id: row.id,
    isCancelAsked: row.cancel_asked === 1,
  }));
}

/** Milliseconds after which the row of an ended process is deleted. The period is much longer than a lease. */
const keptMs = 86_400_000;

/** Deletes the rows of processes that ended long ago. Runs that they left are orphaned without the row as well. */
async function sweepProcesses(db: Kysely<Tables>, now: number): Promise<void> {
  await db
    .deleteFrom('process')
    .where((eb) => eb.or([eb('heartbeat_at', '<', now - keptMs), eb('heartbeat_at', '>', now + keptMs)]))
    .execute();
}

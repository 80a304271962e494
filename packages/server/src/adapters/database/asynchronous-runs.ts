import type { Kysely, Transaction } from 'kysely';
import type {
  AcceptedRun,
  HeldRun,
  LeftRun,
  RunEnd,
  RunKey,
  RunLease,
  RunRepository,
  StoredResult,
} from '../../runs/run-repository.ts';
import type { Database } from './database.ts';
import { storeAnswer } from './idempotency-repository.ts';
import { detailText, insertRuns, packRun, toRun } from './run-rows.ts';
import type { Tables } from './tables.ts';

type AsynchronousRuns = Pick<
  RunRepository,
  'accept' | 'begin' | 'end' | 'leave' | 'askToCancel' | 'renew' | 'takeOver'
>;

/** The life of runs that are stored before they are begun: who has them, and what they were asked for. */
export function createAsynchronousRuns({ write, dialect }: Database): AsynchronousRuns {
  return {
    accept: (runs) => write.transaction().execute((transaction) => acceptRuns(transaction, dialect, runs)),
    begin: (runs, { owner, at, until }) =>
      write.transaction().execute(async (transaction) => {
        const begun: boolean[] = [];
        for (const key of runs) {
          const row = { begun_at: at, lease_until: until };
          const result = await underWay(transaction, key).where('lease_owner', '=', owner).set(row).executeTakeFirst();
          begun.push(result.numUpdatedRows === 1n);
        }
        return begun;
      }),
    end: (key, outcome) => write.transaction().execute((transaction) => endRun(transaction, key, outcome)),
    leave: (runs, owner) =>
      write.transaction().execute(async (transaction) => {
        for (const key of runs)
          await underWay(transaction, key)
            .where('lease_owner', '=', owner)
            .set({ lease_owner: nobody, lease_until: 0 })
            .execute();
      }),
    askToCancel: async (projectId, id) => {
      const asked = await underWay(write, { projectId, id }).set({ cancel_asked: 1 }).executeTakeFirst();
      return asked.numUpdatedRows === 1n;
    },
    renew: (owner, until) => renewLeases(write, owner, until),
    takeOver: (lease, wish) => write.transaction().execute((transaction) => takeRuns(transaction, lease, wish)),
  };
}

/** Not null: a run under way has a lease, if one that is over. */
const nobody = '-';

function underWay(db: Kysely<Tables>, { projectId, id }: RunKey) {
  return db.updateTable('run').where('project_id', '=', projectId).where('id', '=', id).where('outcome', 'is', null);
}

async function acceptRuns(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  runs: readonly AcceptedRun[],
): Promise<boolean[]> {
  const lost = new Set<AcceptedRun>();
  for (const accepted of runs) {
    if (accepted.claim !== null && !(await storeAnswer(transaction, accepted.claim))) lost.add(accepted);
  }
  const kept = runs.filter((accepted) => !lost.has(accepted));
  if (kept.length > 0) {
    await insertRuns(
      transaction,
      dialect,
      kept.map(({ run }) => packRun(run)),
    );
    const rows = kept.map(({ run, request }) => ({
      ...{ project_id: run.projectId, run_id: run.id, request: request.text, attempts: 0 },
      ...{ sealed: Number(request.isSealed), repeatable: Number(request.isRepeatable) },
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
  const place = { project_id: key.projectId, run_id: key.id };
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

async function renewLeases(db: Kysely<Tables>, owner: string, until: number): Promise<HeldRun[]> {
  const rows = await db
    .updateTable('run')
    .set({ lease_until: until })
    .where('outcome', 'is', null)
    .where('lease_owner', '=', owner)
    .returning(['project_id', 'id', 'cancel_asked'])
    .execute();
  return rows.map((row) => ({ projectId: row.project_id, id: row.id, isCancelAsked: row.cancel_asked === 1 }));
}

async function takeRuns(
  transaction: Transaction<Tables>,
  { owner, until }: RunLease,
  { now, limit }: { now: number; limit: number },
): Promise<LeftRun[]> {
  const rows = await transaction
    .selectFrom('run')
    .innerJoin('run_request', (join) =>
      join.onRef('run_request.project_id', '=', 'run.project_id').onRef('run_request.run_id', '=', 'run.id'),
    )
    .selectAll('run')
    .select(['request', 'sealed', 'repeatable', 'attempts'])
    .where('outcome', 'is', null)
    .where('lease_until', '<=', now)
    .where('lease_owner', '<>', owner)
    .orderBy('run.id')
    .limit(limit)
    .execute();
  const left: LeftRun[] = [];
  for (const row of rows) {
    const key = { projectId: row.project_id, id: row.id };
    const taken = await underWay(transaction, key)
      // It may have been renewed, or taken by somebody else, in between.
      .where('lease_until', '<=', now)
      .where('lease_owner', '=', row.lease_owner)
      .set({ lease_owner: owner, lease_until: until, begun_at: null })
      .executeTakeFirst();
    if (taken.numUpdatedRows !== 1n) continue;
    const attempts = row.attempts + (row.begun_at === null ? 0 : 1);
    await transaction
      .updateTable('run_request')
      .set({ attempts })
      .where('project_id', '=', key.projectId)
      .where('run_id', '=', key.id)
      .execute();
    left.push({
      run: { ...toRun(row), lease: { owner, until } },
      request: { text: row.request, isSealed: row.sealed === 1, isRepeatable: row.repeatable === 1 },
      attempts,
      isCancelAsked: row.cancel_asked === 1,
    });
  }
  return left;
}

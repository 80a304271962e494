import { setTimeout } from 'node:timers/promises';
import type { Audit } from '../../platform/audit/audit.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts';
import type { RetryPolicy } from '../../platform/concurrency/retry-delay.ts';
import { retryUntilStored } from '../../platform/jobs/retry-until-stored.ts';
import { resultOf } from '../execution/answers.ts';
import type { Execution } from '../execution/outcome.ts';
import { recordRun } from '../execution/record-run.ts';
import { type AsyncRun, isRequeueable } from './async-run.ts';
import { interruptedEnd, toRunEnd } from './run-outcome.ts';
import type { RunEnd, RunKey, RunLease, RunRepository, StoredResult } from './run-repository.ts';

export interface RunPerformerDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly repository: Pick<RunRepository, 'begin' | 'end' | 'requeue'>;
  readonly keepsInputs: (projectId: string | null) => boolean;
  /** Called when a run has begun. */
  readonly changed: (runId: string) => void;
  /** The unique name of this process. */
  readonly owner: string;
  readonly lease: () => RunLease;
  /** The number of milliseconds for which a result is stored. */
  readonly keepResultMs: number;
  /** Aborted at the end of the grace period of a stop. */
  readonly graceOver: AbortSignal;
  /** Without it, destructive runs are not recorded. */
  readonly audit?: Audit;
}

/** Attempts for a run whose plugin has a full queue. */
const attemptsAtFullQueue = 10;
const beginRetries: RetryPolicy = { firstMs: 1000, longestMs: 1000 };
const endRetries: RetryPolicy = { firstMs: 250, longestMs: 15_000 };

/** Begins an accepted run when the queue starts it, executes it and stores its end. Never rejects. */
export function createRunPerformer(deps: RunPerformerDeps): (run: AsyncRun) => Promise<void> {
  const { repository, owner, clock, logger } = deps;
  const starts = createGroupCommit<RunKey, boolean>(
    (runs) => repository.begin(runs, { owner, at: clock.now(), until: deps.lease().until }),
    100,
  );

  /** @returns null when another process has it */
  async function execute(run: AsyncRun): Promise<Execution | null> {
    const { signal } = run.controller;
    for (let attemptsLeft = attemptsAtFullQueue; ; attemptsLeft -= 1) {
      if (!(await begin(run))) return null;
      const execution = await run.prepared.start(run.files);
      if (execution.outcome.kind !== 'queue_full' || attemptsLeft === 1) return execution;
      run.hasBegun = false;
      await setTimeout(execution.outcome.retryAfterSeconds * 1000, undefined, { signal }).catch(() => {});
      try {
        run.prepared = run.prepare();
      } catch {
        // The plugin was removed in the meantime. The known outcome is the full queue.
        return execution;
      }
    }
  }

  /**
   * Stores that the run begins. The plugin is executed only after that, when no other process can claim the run. A stopped run does
   * not begin: its execution ends immediately, without the plugin.
   */
  async function begin(run: AsyncRun): Promise<boolean> {
    const { signal } = run.controller;
    const store = async () => {
      if (signal.aborted) return true;
      await recordRun(run.prepared.run, deps.audit);
      run.hasBegun = await starts.add(run.stored);
      if (run.hasBegun) deps.changed(run.stored.id);
      return run.hasBegun;
    };
    const onRetry = (err: unknown) => logger.warn({ err, run_id: run.stored.id }, 'run start not stored');
    // After an abort the last attempt stores nothing, so this never rejects.
    return await retryUntilStored(store, { policy: beginRetries, signal, onRetry });
  }

  async function conclude(run: AsyncRun, execution: Execution | null): Promise<void> {
    if (execution === null || run.stopReason === 'lost') return;
    const isCutOff = run.stopReason === 'stopping' && execution.outcome.kind === 'cancelled';
    if (isCutOff && isRequeueable(run)) return await requeue(run);
    await storeOutcome(run, isCutOff ? interrupted(run) : ended(run, execution));
  }

  function ended({ prepared, stored }: AsyncRun, execution: Execution): StoredEnd {
    // The record includes the error message, because the message is the answer of the run and is stored nowhere else.
    const end = toRunEnd(prepared.run, execution, { errorMessages: true, input: deps.keepsInputs(stored.projectId) });
    if (execution.outcome.kind !== 'succeeded') return { end, result: null };
    return { end, result: { result: resultOf(execution), expiresAt: clock.now() + deps.keepResultMs } };
  }

  /** Stores the end and retries while the database is unavailable. After the grace period another process ends the run. */
  async function storeOutcome({ stored }: AsyncRun, stores: StoredEnd): Promise<void> {
    const onRetry = (err: unknown) => logger.warn({ err, run_id: stored.id }, 'run end not stored');
    const options = { policy: endRetries, signal: deps.graceOver, onRetry };
    try {
      const isStored = await retryUntilStored(() => repository.end(stored, { owner, ...stores }), options);
      // This process was suspended for longer than a lease.
      if (!isStored) logger.warn({ run_id: stored.id }, 'run result dropped: another process claimed the run');
    } catch (error) {
      onRetry(error);
    }
  }

  async function requeue({ stored }: AsyncRun): Promise<void> {
    try {
      await repository.requeue([stored], owner);
      logger.info({ run_id: stored.id }, 'run requeued');
    } catch (error) {
      logger.warn({ err: error, run_id: stored.id }, 'run not requeued: its lease expires');
    }
  }

  return async (run) => {
    if (run.stopReason === 'lost' && !run.hasBegun) return;
    if (run.stopReason === 'stopping' && isRequeueable(run)) await requeue(run);
    else await conclude(run, await execute(run));
  };
}

interface StoredEnd {
  readonly end: RunEnd;
  readonly result: StoredResult | null;
}

/** The end of a run that a stop interrupted and that no other process may execute. */
function interrupted({ hasBegun, prepared }: AsyncRun): StoredEnd {
  const reason = hasBegun && !prepared.isRepeatable ? 'may_have_acted' : 'credentials_not_kept';
  return { end: interruptedEnd(reason, hasBegun), result: null };
}

import type { PluginCall } from '@quartermaster/contract';
import { resolveRequest } from '../../access/credential-profiles/resolve-credentials.ts';
import { queues } from '../../platform/admission/queues.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts';
import type { PeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { BackgroundCaller } from '../execution/background.ts';
import type { Executor } from '../execution/executor.ts';
import {
  type AsyncRun,
  type AsyncRunOptions,
  addFiles,
  prepareAsyncRun,
  type StopReason,
  toStoredRequest,
} from './async-run.ts';
import { createLeaseTask } from './lease-task.ts';
import type { RunPerformerDeps } from './perform-run.ts';
import { createRunPerformer } from './perform-run.ts';
import { claimLost, serviceStopping } from './problems.ts';
import type { RecoveryDeps } from './recover-runs.ts';
import { createRecovery } from './recover-runs.ts';
import { createRunQueue, type QueueBounds } from './run-queue.ts';
import type { AcceptedRun, RunKey, RunLease, RunRepository } from './run-repository.ts';

export interface AsyncRunsDeps
  extends Pick<CommonDeps, 'admission' | 'clock' | 'logger'>,
    Pick<RunPerformerDeps, 'audit' | 'changed' | 'keepsInputs' | 'owner'>,
    Pick<RecoveryDeps, 'encrypter' | 'hasBundle' | 'resolveCredentials'> {
  readonly executor: Pick<Executor, 'prepare' | 'readFiles'>;
  readonly repository: Pick<
    RunRepository,
    'accept' | 'begin' | 'end' | 'requeue' | 'renew' | 'listHeld' | 'claimOrphaned'
  >;
  readonly options?: Partial<AsyncRunsOptions>;
}

export interface AsyncRunsOptions extends QueueBounds {
  /** The number of milliseconds for which a result is stored. */
  readonly keepResultMs: number;
  /** Milliseconds after which the runs of a killed process are recovered. */
  readonly leaseMs: number;
  /** Milliseconds after its acceptance at which an orphaned run is ended when no process has its bundle. */
  readonly maxOrphanedMs: number;
  /** Milliseconds between heartbeats of this process, and between searches for runs of other processes. */
  readonly lookMs: number;
  /** Milliseconds between reads of the runs that other processes have cancelled or taken. It divides `lookMs`. */
  readonly cancelMs: number;
}

export const asyncRunDefaults: AsyncRunsOptions = {
  maxRunning: queues.running_async_runs.atOnce,
  maxAccepted: queues.async_runs.atOnce,
  maxSize: 64 * 1024 * 1024,
  keepResultMs: 24 * 3_600_000,
  leaseMs: 12_000,
  maxOrphanedMs: 24 * 3_600_000,
  lookMs: 2_000,
  cancelMs: 2_000,
};

/**
 * Runs that are stored before they are acknowledged and then executed in this process (ADR 0027). After a crash another process
 * recovers a run when repeating it is harmless and its credentials are known. It ends the other runs as interrupted.
 */
export interface AsyncRuns {
  accept(request: PluginCall, caller: BackgroundCaller): Promise<RunKey>;
  /** A run of this process that has not ended. */
  find(projectId: string | null, runId: string): { cancel(): void; readonly done: Promise<void> } | undefined;
  /** Writes the heartbeat of this process and recovers orphaned runs. It must continue until `close` has resolved. */
  readonly leaseTask: PeriodicTask;
  /** Accepts no more runs. Runs in progress get `graceMs` milliseconds; then they are requeued or interrupted. */
  stop(graceMs: number): void;
  /** Resolves when all runs have ended. */
  close(): Promise<void>;
}

export function createAsyncRuns(deps: AsyncRunsDeps): AsyncRuns {
  const { executor, repository, owner, clock, encrypter } = deps;
  const options = { ...asyncRunDefaults, ...deps.options };
  const stopping = new AbortController();
  const graceOver = new AbortController();
  let graceTimer: NodeJS.Timeout | undefined;
  const lease = (): RunLease => ({ owner, until: clock.now() + options.leaseMs });
  const heartbeat = () => ({ owner, at: clock.now() });
  const { keepResultMs, maxOrphanedMs } = options;
  const perform = createRunPerformer({ ...deps, lease, keepResultMs, graceOver: graceOver.signal });
  const queue = createRunQueue({ ...options, admission: deps.admission }, async (run) => {
    await perform(run);
    queue.release(run);
    run.done.resolve();
    deps.changed(run.stored.id);
  });
  const accepting = createGroupCommit<AcceptedRun, boolean>((runs) => repository.accept(runs, heartbeat()), 100);
  const prepare = (run: Omit<AsyncRunOptions, 'lease'>) =>
    prepareAsyncRun(executor, { ...run, lease: lease() }, cancel);
  const recover = createRecovery({ ...deps, queue, lease, maxOrphanedMs, prepare });
  const recoverUntilStop = async () => void (stopping.signal.aborted || (await recover()));
  const leaseTask = createLeaseTask({ ...deps, queue, heartbeat, stopRun, options, recover: recoverUntilStop });

  function stopRun(run: AsyncRun, reason: StopReason): void {
    run.stopReason ??= reason;
    run.controller.abort();
    // A cancelled run only stores its end, so it need not wait in the queue.
    queue.promote(run);
  }

  function cancel(run: AsyncRun): void {
    stopRun(run, 'cancelled');
  }

  async function accept(request: PluginCall, caller: BackgroundCaller): Promise<RunKey> {
    if (stopping.signal.aborted) throw serviceStopping();
    const resolved = await resolveRequest(deps.resolveCredentials, caller, request);
    const { projectId, keyId, sender } = caller;
    const run = prepare({ request: resolved, projectId, keyId, sender });
    return await executor.readFiles(resolved, caller, (files) => {
      addFiles(run, files);
      return acceptPrepared(run, request, caller);
    });
  }

  /** @param request names files and profiles; only this form is stored */
  async function acceptPrepared(run: AsyncRun, request: PluginCall, caller: BackgroundCaller): Promise<RunKey> {
    const { stored, prepared } = run;
    const storedRequest = toStoredRequest(request, stored, { encrypter, isRepeatable: prepared.isRepeatable });
    run.isStored = storedRequest.text !== null;
    queue.reserve(run);
    try {
      const claim = (await caller.claim?.(stored.id)) ?? null;
      if (!(await accepting.add({ run: stored, keyId: run.keyId, request: storedRequest, claim }))) throw claimLost();
    } catch (error) {
      queue.release(run);
      throw error;
    }
    queue.enqueue(run);
    return stored;
  }

  function stop(graceMs: number): void {
    stopping.abort();
    for (const run of [...queue.all.values()]) if (run.isStored && !run.hasBegun) stopRun(run, 'stopping');
    graceTimer ??= setTimeout(() => {
      graceOver.abort();
      for (const run of [...queue.all.values()]) stopRun(run, 'stopping');
    }, graceMs);
  }

  return {
    accept,
    find: (projectId, runId) => {
      const run = queue.all.get(runId);
      if (run?.stored.projectId !== projectId) return undefined;
      return { cancel: () => cancel(run), done: run.done.promise };
    },
    leaseTask,
    stop,
    close: async () => {
      stop(0);
      await Promise.all([...queue.all.values()].map(({ done }) => done.promise));
      clearTimeout(graceTimer);
    },
  };
}

import type { ExecuteRequest } from '@quartermaster/contract';
import { type ResolveCredentials, resolveRequest } from '../access/credential-profiles/resolve-credentials.ts';
import type { BackgroundCaller } from '../execution/background.ts';
import type { Executor } from '../execution/executor.ts';
import type { Clock } from '../kernel/clock.ts';
import { createGroupCommit } from '../kernel/concurrency/group-commit.ts';
import type { UpkeepTask } from '../kernel/concurrency/upkeep.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { createBackgroundQueue, type QueueBounds } from './background-queue.ts';
import { type BackgroundRun, type BackgroundWish, prepareBackgroundRun } from './background-run.ts';
import { keepRequest, type RequestSealer } from './kept-requests.ts';
import { createRunPerformer } from './perform-run.ts';
import { claimLost, serviceStopping } from './problems.ts';
import type { AcceptedRun, RunKey, RunLease, RunRepository } from './run-repository.ts';
import { createTakeOver } from './take-over.ts';

export interface BackgroundDeps {
  readonly executor: Pick<Executor, 'prepare'>;
  readonly repository: Pick<RunRepository, 'accept' | 'begin' | 'end' | 'leave' | 'renew' | 'takeOver'>;
  readonly resolveCredentials: ResolveCredentials;
  /** null: the operator has given no key, so credentials stay in memory. */
  readonly sealer: RequestSealer | null;
  readonly keepsInputs: (projectId: string) => boolean;
  /** Whether this process can run plugins of the bundle. */
  readonly hasBundle: (bundleId: string) => boolean;
  /** Told when a run has begun or ended. */
  readonly changed: (runId: string) => void;
  /** Names this process; unique. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options?: Partial<BackgroundOptions>;
}

export interface BackgroundOptions extends QueueBounds {
  /** Milliseconds that a result is kept. */
  readonly keepResultMs: number;
  /** Milliseconds after which the runs of a killed process are taken over. */
  readonly leaseMs: number;
  /** Milliseconds from its acceptance after which an orphaned run whose bundle no process has is ended. */
  readonly maxOrphanedMs: number;
  /** Milliseconds between heartbeats of this process, and between searches for orphaned runs. */
  readonly lookMs: number;
}

export const backgroundDefaults: BackgroundOptions = {
  maxRunning: 64,
  maxAccepted: 1000,
  maxAcceptedOfKey: 250,
  maxSize: 64 * 1024 * 1024,
  keepResultMs: 24 * 3_600_000,
  leaseMs: 15_000,
  maxOrphanedMs: 24 * 3_600_000,
  lookMs: 2_000,
};

/**
 * Runs that are stored before they are acknowledged, and then run in this process (ADR 0027). What a killed process has
 * not ended another one takes up, where running it again does no harm and its credentials are known; else it ends
 * interrupted.
 */
export interface Background {
  accept(request: ExecuteRequest, caller: BackgroundCaller): Promise<RunKey>;
  /** A run of this process that has not ended. */
  find(projectId: string, runId: string): { cancel(): void; readonly done: Promise<void> } | undefined;
  /** Writes the heartbeat of this process and takes over orphaned runs; must go on until `close` is done. */
  readonly upkeep: UpkeepTask;
  /** Takes nothing new, and gives those under way so many milliseconds; what has not ended then is left or interrupted. */
  stop(graceMs: number): void;
  /** Resolves when all have ended. */
  close(): Promise<void>;
}

export function createBackground(deps: BackgroundDeps): Background {
  const { executor, repository, owner, clock, sealer } = deps;
  const options = { ...backgroundDefaults, ...deps.options };
  const stopping = new AbortController();
  const graceOver = new AbortController();
  let graceTimer: NodeJS.Timeout | undefined;
  const lease = (): RunLease => ({ owner, until: clock.now() + options.leaseMs });
  const heartbeat = () => ({ owner, at: clock.now() });
  const { keepResultMs, maxOrphanedMs } = options;
  const perform = createRunPerformer({ ...deps, lease, keepResultMs, graceOver: graceOver.signal });
  const queue = createBackgroundQueue(options, async (run) => {
    await perform(run);
    queue.leave(run);
    run.done.resolve();
    deps.changed(run.stored.id);
  });
  const accepting = createGroupCommit<AcceptedRun, boolean>((runs) => repository.accept(runs, heartbeat()), 100);
  const prepare = (wish: Omit<BackgroundWish, 'lease'>) =>
    prepareBackgroundRun(executor, { ...wish, lease: lease() }, (run) => tell(run, 'cancelled'));
  const takeOver = createTakeOver({ ...deps, queue, lease, maxOrphanedMs, prepare });

  function tell(run: BackgroundRun, what: NonNullable<BackgroundRun['told']>): void {
    run.told ??= what;
    run.controller.abort();
    // It waits for nothing any more: it ends at once.
    queue.hurry(run);
  }

  async function accept(request: ExecuteRequest, caller: BackgroundCaller): Promise<RunKey> {
    const { projectId, keyId } = caller;
    if (stopping.signal.aborted) throw serviceStopping();
    const resolved = await resolveRequest(deps.resolveCredentials, projectId, request);
    const run = prepare({ request: resolved, projectId, keyId });
    const { stored, prepared } = run;
    const kept = keepRequest(request, stored, { sealer, isRepeatable: prepared.isRepeatable });
    run.isKept = kept.text !== null;
    queue.enter(run);
    try {
      const claim = (await caller.claim?.(stored.id)) ?? null;
      if (!(await accepting.add({ run: stored, request: kept, claim }))) throw claimLost();
    } catch (error) {
      queue.leave(run);
      throw error;
    }
    queue.line(run);
    return stored;
  }

  async function lookAfterLeases(): Promise<void> {
    const begun = [...queue.all.values()].filter((run) => run.hasBegun);
    const held = await repository.renew(heartbeat());
    const ids = new Set(held.map((run) => run.id));
    for (const run of begun) if (!ids.has(run.stored.id)) tell(run, 'lost');
    for (const { id, isCancelAsked } of held) {
      const run = isCancelAsked ? queue.all.get(id) : undefined;
      if (run !== undefined) tell(run, 'cancelled');
    }
    // Stored, although whoever asked for it was told of a failure: somebody must answer for it.
    const strays = held.filter(({ id }) => !queue.all.has(id));
    if (strays.length > 0) await repository.leave(strays, owner);
    if (!stopping.signal.aborted) await takeOver();
  }

  function stop(graceMs: number): void {
    stopping.abort();
    for (const run of [...queue.all.values()]) if (run.isKept && !run.hasBegun) tell(run, 'stopping');
    graceTimer ??= setTimeout(() => {
      graceOver.abort();
      for (const run of [...queue.all.values()]) tell(run, 'stopping');
    }, graceMs);
  }

  return {
    accept,
    find: (projectId, runId) => {
      const run = queue.all.get(runId);
      if (run?.stored.projectId !== projectId) return undefined;
      return { cancel: () => tell(run, 'cancelled'), done: run.done.promise };
    },
    upkeep: { name: 'leases of asynchronous runs', pause: options.lookMs, run: lookAfterLeases },
    stop,
    close: async () => {
      stop(0);
      await Promise.all([...queue.all.values()].map(({ done }) => done.promise));
      clearTimeout(graceTimer);
    },
  };
}

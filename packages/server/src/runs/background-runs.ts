import { setTimeout } from 'node:timers/promises';
import type { ExecuteRequest } from '@quartermaster/contract';
import type { BackgroundCaller } from '../execution/background.ts';
import type { Execution, Executor } from '../execution/executor.ts';
import type { Clock } from '../kernel/clock.ts';
import { createGroupCommit } from '../kernel/group-commit.ts';
import type { Logger } from '../kernel/logger.ts';
import type { UpkeepTask } from '../kernel/upkeep.ts';
import { type ResolveCredentials, resolveRequest } from '../profiles/resolve-credentials.ts';
import { createBackgroundQueue, type QueueBounds } from './background-queue.ts';
import { type BackgroundRun, type BackgroundWish, isResumable, prepareBackgroundRun } from './background-run.ts';
import { endOf } from './end-of-run.ts';
import { keepRequest, type RequestSealer } from './kept-requests.ts';
import { claimLost, serviceStopping } from './problems.ts';
import type { AcceptedRun, RunKey, RunLease, RunRepository } from './run-repository.ts';
import { storeEnd } from './store-end.ts';
import { createTakeOver } from './take-over.ts';

export interface BackgroundDeps {
  readonly executor: Pick<Executor, 'prepare'>;
  readonly repository: Pick<RunRepository, 'accept' | 'begin' | 'end' | 'leave' | 'renew' | 'takeOver'>;
  readonly resolveCredentials: ResolveCredentials;
  /** null: the operator has given no key, so credentials stay in memory. */
  readonly sealer: RequestSealer | null;
  readonly keepsInputs: (projectId: string) => boolean;
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
  /** Milliseconds between looks at leases: those of this process, and those that have run out. */
  readonly lookMs: number;
}

const defaults: BackgroundOptions = {
  maxRunning: 64,
  maxAccepted: 1000,
  maxAcceptedOfKey: 250,
  maxSize: 64 * 1024 * 1024,
  keepResultMs: 24 * 3_600_000,
  leaseMs: 15_000,
  lookMs: 2_000,
};

/** Tries of a run that finds the queue of its plugin full. */
const triesOfFullQueue = 10;

/**
 * Runs that are stored before they are acknowledged, and then run in this process (ADR 0027). What a killed process has
 * not ended another one takes up, where running it again does no harm and its credentials are known; else it ends
 * interrupted.
 */
export interface Background {
  accept(request: ExecuteRequest, caller: BackgroundCaller): Promise<RunKey>;
  /** A run of this process that has not ended. */
  find(projectId: string, runId: string): { cancel(): void; readonly done: Promise<void> } | undefined;
  /** Keeps the leases of this process and takes over those of others; must go on until `close` is done. */
  readonly upkeep: UpkeepTask;
  /** Takes nothing new, and gives those under way so many milliseconds; what has not ended then is left or interrupted. */
  stop(graceMs: number): void;
  /** Resolves when all have ended. */
  close(): Promise<void>;
}

export function createBackground(deps: BackgroundDeps): Background {
  const { executor, repository, owner, clock, logger, sealer } = deps;
  const options = { ...defaults, ...deps.options };
  const stopping = new AbortController();
  const graceOver = new AbortController();
  let graceTimer: NodeJS.Timeout | undefined;
  const queue = createBackgroundQueue(options, work);
  const lease = (): RunLease => ({ owner, until: clock.now() + options.leaseMs });
  const accepting = createGroupCommit<AcceptedRun, boolean>((runs) => repository.accept(runs), 100);
  const beginning = createGroupCommit<RunKey, boolean>(
    (runs) => repository.begin(runs, { owner, at: clock.now(), until: lease().until }),
    100,
  );
  const prepare = (wish: Omit<BackgroundWish, 'lease'>) =>
    prepareBackgroundRun(executor, { ...wish, lease: lease() }, (run) => tell(run, 'cancelled'));
  const takeOver = createTakeOver({ ...deps, queue, lease, prepare });

  async function work(run: BackgroundRun): Promise<void> {
    if (run.told === 'stopping' && isResumable(run)) await leave(run);
    else await conclude(run, await execute(run));
    queue.leave(run);
    run.done.resolve();
    deps.changed(run.stored.id);
  }

  /** @returns null when another process has it */
  async function execute(run: BackgroundRun): Promise<Execution | null> {
    const { signal } = run.controller;
    for (let left = triesOfFullQueue; ; left -= 1) {
      if (!signal.aborted && !(await begin(run))) return null;
      const execution = await run.prepared.start();
      if (execution.outcome.kind !== 'queue_full' || left === 1) return execution;
      run.hasBegun = false;
      await setTimeout(execution.outcome.retryAfterSeconds * 1000, undefined, { signal }).catch(() => {});
      try {
        run.prepared = run.prepare();
      } catch {
        // The plugin has gone meanwhile; what is known is that the queue was full.
        return execution;
      }
    }
  }

  /** A plugin is at work only after this is stored: nobody else can have the run then. */
  async function begin(run: BackgroundRun): Promise<boolean> {
    const { signal } = run.controller;
    for (;;) {
      try {
        run.hasBegun = await beginning.add(run.stored);
        if (run.hasBegun) deps.changed(run.stored.id);
        return run.hasBegun;
      } catch (error) {
        logger.warn({ err: error, run_id: run.stored.id }, 'a run could not be begun');
        await setTimeout(1000, undefined, { signal }).catch(() => {});
        if (signal.aborted) return true;
      }
    }
  }

  async function conclude(run: BackgroundRun, execution: Execution | null): Promise<void> {
    if (execution === null || run.told === 'lost') return;
    if (run.told === 'stopping' && execution.outcome.kind === 'cancelled' && isResumable(run)) return await leave(run);
    const keepsInput = deps.keepsInputs(run.stored.projectId);
    const ended = endOf(run, execution, { keepsInput, expiresAt: clock.now() + options.keepResultMs });
    await storeEnd({ repository, logger, signal: graceOver.signal }, run.stored, { owner, ...ended });
  }

  async function leave(run: BackgroundRun): Promise<void> {
    try {
      await repository.leave([run.stored], owner);
    } catch (error) {
      logger.warn({ err: error, run_id: run.stored.id }, 'a run could not be left; its lease runs out');
    }
  }

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
    const held = await repository.renew(owner, lease().until);
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
    graceTimer ??= globalThis.setTimeout(() => {
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

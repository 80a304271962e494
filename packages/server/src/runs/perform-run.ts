import { setTimeout } from 'node:timers/promises';
import type { Execution } from '../execution/outcome.ts';
import type { Clock } from '../kernel/clock.ts';
import { createGroupCommit } from '../kernel/concurrency/group-commit.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { type BackgroundRun, isResumable } from './background-run.ts';
import { endOf } from './end-of-run.ts';
import type { RunKey, RunLease, RunRepository } from './run-repository.ts';
import { storeEnd } from './store-end.ts';

export interface RunPerformerDeps {
  readonly repository: Pick<RunRepository, 'begin' | 'end' | 'leave'>;
  readonly keepsInputs: (projectId: string) => boolean;
  /** Told when a run has begun. */
  readonly changed: (runId: string) => void;
  /** Names this process; unique. */
  readonly owner: string;
  readonly lease: () => RunLease;
  /** Milliseconds that a result is kept. */
  readonly keepResultMs: number;
  /** Aborted when a stop waits no longer. */
  readonly graceOver: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tries of a run that finds the queue of its plugin full. */
const triesOfFullQueue = 10;

/** What is done with an accepted run when its turn has come: it is begun, run, and its end stored; never rejects. */
export function createRunPerformer(deps: RunPerformerDeps): (run: BackgroundRun) => Promise<void> {
  const { repository, owner, clock, logger } = deps;
  const beginning = createGroupCommit<RunKey, boolean>(
    (runs) => repository.begin(runs, { owner, at: clock.now(), until: deps.lease().until }),
    100,
  );

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
    const ended = endOf(run, execution, { keepsInput, expiresAt: clock.now() + deps.keepResultMs });
    await storeEnd({ repository, logger, signal: deps.graceOver }, run.stored, { owner, ...ended });
  }

  async function leave(run: BackgroundRun): Promise<void> {
    try {
      await repository.leave([run.stored], owner);
    } catch (error) {
      logger.warn({ err: error, run_id: run.stored.id }, 'a run could not be left; its lease runs out');
    }
  }

  return async (run) => {
    if (run.told === 'stopping' && isResumable(run)) await leave(run);
    else await conclude(run, await execute(run));
  };
}

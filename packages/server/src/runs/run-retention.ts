import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.ts';
import type { PeriodicTask } from '../kernel/concurrency/periodic-task.ts';
import type { Logger } from '../kernel/log/logger.ts';
import type { RunRepository } from './run-repository.ts';

export interface RunRetentionDeps {
  readonly repository: Pick<RunRepository, 'sweep' | 'sweepResults' | 'sweepProcesses'>;
  readonly clock: Clock;
  readonly bounds: RunRetention;
}

export interface RunRetention {
  /** Days that runs are kept. */
  readonly days: number;
  /** Runs that a project keeps. */
  readonly most: number;
  /** Bytes of all results together. */
  readonly resultBytes: number;
}

const dayMs = 86_400_000;
/** Rows of one transaction, and the pause after it: whoever else writes comes in between. */
const batch = 1000;
const breathMs = 10;

/** Deletes what is beyond the bounds. */
export function retentionTasks({ repository, clock, bounds }: RunRetentionDeps): PeriodicTask[] {
  async function inBatches(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
    while (!signal.aborted && (await work()) >= batch) await setTimeout(breathMs);
  }
  return [
    {
      name: 'forget runs',
      pause: 30_000,
      run: async (signal) => {
        const notBefore = () => clock.now() - bounds.days * dayMs;
        await inBatches(signal, () => repository.sweep({ notBefore: notBefore(), most: bounds.most }, batch));
        const { resultBytes: maxBytes } = bounds;
        await inBatches(signal, () => repository.sweepResults(clock.now(), { maxBytes, limit: batch }));
        await repository.sweepProcesses(clock.now());
      },
    },
  ];
}

/** The projects that keep the inputs of their runs; in memory, because every run asks. */
export interface InputKeepers {
  has(projectId: string): boolean;
  close(): void;
}

export interface InputKeepersDeps {
  readonly find: () => Promise<readonly string[]>;
  readonly logger: Logger;
  /** Milliseconds until a change is known here. */
  readonly refreshMs?: number;
}

export async function openInputKeepers({ find, logger, refreshMs = 2000 }: InputKeepersDeps): Promise<InputKeepers> {
  let keepers = new Set(await find());
  const timer = setInterval(() => {
    find().then(
      (found) => {
        keepers = new Set(found);
      },
      (error: unknown) => {
        // Unknown means no.
        keepers = new Set();
        logger.warn({ err: error }, 'project settings not refreshed');
      },
    );
  }, refreshMs);
  timer.unref();
  return { has: (projectId) => keepers.has(projectId), close: () => clearInterval(timer) };
}

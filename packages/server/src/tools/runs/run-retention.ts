import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { PeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { RunRepository } from './run-repository.ts';

export interface RunRetentionDeps {
  readonly repository: Pick<RunRepository, 'sweep' | 'sweepResults' | 'sweepProcesses'>;
  readonly clock: Clock;
  readonly bounds: RunRetention;
}

export interface RunRetention {
  /** The number of days for which runs are stored. */
  readonly days: number;
  /** The maximum number of runs that a project keeps. */
  readonly most: number;
  /** The maximum size of all stored results together, in bytes. */
  readonly resultBytes: number;
}

const dayMs = 86_400_000;
/** The rows of one transaction, and the pause after it in which other writers can proceed. */
const batch = 1000;
const breathMs = 10;

/** Creates the tasks that delete runs and results beyond the bounds. */
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

/** The projects that store the inputs of their runs. Held in memory, because every run reads it. */
export interface InputKeepers {
  has(projectId: string): boolean;
  /** Applies a change. Never fails: until the settings can be read, no project keeps inputs. */
  refresh(): Promise<void>;
  close(): void;
}

export interface InputKeepersDeps {
  readonly find: () => Promise<readonly string[]>;
  readonly logger: Logger;
  /** Milliseconds after which the settings are read again without a change, because an earlier attempt may have failed. */
  readonly refreshMs?: number | undefined;
}

export async function openInputKeepers({ find, logger, refreshMs = 5000 }: InputKeepersDeps): Promise<InputKeepers> {
  let keepers = new Set(await find());
  async function refresh(): Promise<void> {
    try {
      keepers = new Set(await find());
    } catch (err) {
      keepers = new Set();
      logger.warn({ err }, 'project settings not refreshed');
    }
  }
  const timer = setInterval(() => void refresh(), refreshMs);
  timer.unref();
  return { has: (projectId) => keepers.has(projectId), refresh, close: () => clearInterval(timer) };
}

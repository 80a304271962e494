import type { Clock } from '../../platform/clock.ts';
import { type RunningTask, startPeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { RechunkRepository } from './rechunk-repository.ts';

export interface RechunkerDeps {
  readonly rechunking: RechunkRepository;
  readonly clock: Clock;
  readonly logger: Logger;
  /** While the disk is nearly full, no record is queued. Default: the disk is never full. */
  readonly space?: DiskSpace | undefined;
  readonly pollMs: number;
  /** The maximum wait of a queued record for its first attempt, in milliseconds. */
  readonly maxWaitMs: number;
  /** Called when a record was queued. */
  readonly onQueued: (recordId: string) => void;
}

/** Few, so that new records of the project do not wait behind them. */
const inProgress = 4;
const examined = 200;

/**
 * Queues the records of collections whose settings have changed, a few at a time. The record worker then splits them as
 * a retry does, while the old chunks answer. All state is in the database, so a restart continues.
 */
export function startRechunker(deps: RechunkerDeps): RunningTask {
  const { rechunking, clock, logger, space, pollMs, maxWaitMs, onQueued } = deps;

  /** Visits each collection once. @returns whether a further visit may find records that need no work */
  async function visitAll(signal: AbortSignal): Promise<boolean> {
    let hasMore = false;
    for (let after = ''; !signal.aborted && (await space?.hasFreeSpace()) !== false; ) {
      const now = clock.now();
      const step = await rechunking.step(after, { inProgress, examined, now, deadlineAt: now + maxWaitMs });
      if (step === undefined) break;
      for (const recordId of step.queued) onQueued(recordId);
      if (step.isDone) logger.info({ collection_id: step.collectionId }, 'rechunking completed');
      hasMore ||= step.numExamined > 0;
      after = step.collectionId;
    }
    return hasMore;
  }

  return startPeriodicTask(
    {
      name: 'rechunking',
      pause: pollMs,
      async run(signal) {
        while (!signal.aborted && (await visitAll(signal)));
      },
    },
    (error) => logger.error({ err: error }, 'rechunking failed'),
  );
}

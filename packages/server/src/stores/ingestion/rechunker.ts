import type { CommonDeps } from '../../platform/common-deps.ts';
import { type RunningTask, startPeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';

export interface RechunkerDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly rechunking: RechunkRepository;
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

/** The result of one step for one collection. */
export interface RechunkStep {
  readonly collectionId: string;
  /** The records that now wait to be split again. */
  readonly queued: readonly string[];
  /** The number of records that keep their chunks, without work. */
  readonly numExamined: number;
  /** No record of the collection has chunks of earlier settings. */
  readonly isDone: boolean;
}

export interface RechunkBounds {
  /** The maximum records of a collection that wait or are split again at the same time. */
  readonly inProgress: number;
  /** The maximum records that one step examines. */
  readonly examined: number;
  readonly now: number;
  readonly deadlineAt: number;
}

/** Finds the records whose chunks follow earlier settings of their collection. */
export interface RechunkRepository {
  /**
   * Examines the next records of the first such collection after this id, in one transaction. Records with a splitter,
   * pairs and records that have no chunks need no work. Web pages, records of which a request has changed a chunk, and
   * records that could not be processed again keep their chunks. The others are queued. @returns undefined when there is no such collection
   */
  step(afterCollection: string, bounds: RechunkBounds): Promise<RechunkStep | undefined>;
}

import type { CommonDeps } from '../../platform/common-deps.ts';
import { type RetryPolicy, retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import { type Job, type Lease, WorkerStopping } from '../../platform/jobs/job.ts';
import { type JobControl, type JobHandler, openWorker, type Worker } from '../../platform/jobs/worker.ts';
import type { CollectionRepository } from '../collections/collection-repository.ts';
import type { RecordJobRepository } from './record-job-repository.ts';
import type { RecordMetrics } from './record-metrics.ts';

export interface SweeperDeps extends Pick<CommonDeps, 'clock' | 'logger' | 'newId'> {
  readonly jobs: RecordJobRepository;
  readonly collections: Pick<CollectionRepository, 'findDeleting' | 'sweep'>;
  readonly metrics?: Pick<RecordMetrics, 'sweepFailed'> | undefined;
  /** The duration of a lease in milliseconds. */
  readonly leaseMs: number;
  readonly pollMs: number;
}

/** A deleted collection has no lease. Several processes may sweep it at the same time, which is harmless. */
interface SweepJob extends Job {
  readonly kind: 'record' | 'collection';
}

const rowsAtOnce = 500;
const recordRetryMs = 5_000;
const collectionRetries: RetryPolicy = { firstMs: 5_000, longestMs: 5 * 60_000 };
/** Maximum number of collections that wait for another attempt. */
const mostPostponed = 100;

/**
 * Removes rows that are no longer visible: deleted collections, deleted records, and replaced chunks. It works
 * sequentially, in small transactions. The next start finds the rows that a crash leaves.
 */
export function openSweeper(deps: SweeperDeps): Worker {
  const { jobs, collections, leaseMs, pollMs, clock, newId, logger } = deps;
  const postponed = createPostponed();

  async function claim(lease: Lease): Promise<SweepJob | undefined> {
    const record = await jobs.claim({ kind: 'sweep', ...lease });
    if (record !== undefined) return { ...record, kind: 'record' };
    const waiting = postponed.ids();
    if (waiting.length >= mostPostponed) return undefined;
    const id = await collections.findDeleting(waiting);
    return id === undefined ? undefined : { kind: 'collection', id, token: lease.token, attempt: 1 };
  }

  function sweepCollection({ id }: SweepJob, { signal }: JobControl): JobHandler {
    return {
      async perform() {
        await collections.sweep(id, rowsAtOnce, signal);
        postponed.delete(id);
      },
      async settle(reason) {
        if (reason instanceof WorkerStopping) return;
        deps.metrics?.sweepFailed();
        const about = { err: reason, collection_id: id, retry_ms: postponed.add(id) };
        logger.error(about, 'collection sweep failed');
      },
    };
  }

  return openWorker<SweepJob>({
    name: 'sweeps',
    concurrency: 1,
    claim,
    handle: (job, control) => (job.kind === 'record' ? sweepRecord(deps, job, control) : sweepCollection(job, control)),
    leaseMs,
    pollMs,
    clock,
    newId,
    logger,
  });
}

function sweepRecord(deps: SweeperDeps, job: SweepJob, { signal }: JobControl): JobHandler {
  const { jobs, clock, leaseMs, metrics, logger } = deps;
  return {
    async perform() {
      for (let swept = 'more'; swept === 'more'; ) {
        signal.throwIfAborted();
        // The sweep also extends the lease.
        swept = await jobs.sweep(job, { limit: rowsAtOnce, leaseUntil: clock.now() + leaseMs });
      }
    },
    async settle(reason) {
      if (reason instanceof WorkerStopping) return jobs.requeue(job, { runAfter: clock.now(), attempt: 0 });
      metrics?.sweepFailed();
      logger.warn({ err: reason, record_id: job.id }, 'record sweep failed');
      await jobs.requeue(job, { runAfter: clock.now() + recordRetryMs, attempt: job.attempt });
    },
  };
}

interface Postponed {
  readonly failures: number;
  /** A time of `performance.now()`. */
  readonly until: number;
}

/** The collections whose sweep failed, until their next attempt is due, so that they do not delay the others. */
function createPostponed() {
  const postponed = new Map<string, Postponed>();
  return {
    ids: () => [...postponed].filter(([, { until }]) => until > performance.now()).map(([id]) => id),
    delete: (id: string) => postponed.delete(id),
    /** @returns milliseconds until the next attempt */
    add(id: string): number {
      const failures = (postponed.get(id)?.failures ?? 0) + 1;
      const pause = retryDelayMs(collectionRetries, failures);
      postponed.set(id, { failures, until: performance.now() + pause });
      return pause;
    },
  };
}

import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/logger.ts';
import type { CollectionRepository } from './collection-repository.ts';
import { startPolling } from './polling.ts';
import type { RecordJob, RecordJobRepository } from './record-job-repository.ts';
import type { RecordMetrics } from './record-metrics.ts';

export interface SweeperDeps {
  readonly jobs: RecordJobRepository;
  readonly collections: Pick<CollectionRepository, 'findDeleting' | 'sweep'>;
  readonly metrics?: Pick<RecordMetrics, 'sweepFailed'> | undefined;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  /** Milliseconds that a lease holds. */
  readonly leaseMs: number;
  readonly pollMs: number;
}

export interface Sweeper {
  /** Something waits to be swept. */
  wake(): void;
  close(): Promise<void>;
}

const rowsAtOnce = 500;
const backoffMs = 5_000;
const longestBackoffMs = 5 * 60_000;
/** Maximum number of collections that wait for another try. */
const mostPostponed = 100;

/**
 * Removes what nobody sees any more: deleted collections, deleted records, and chunks that a record has replaced. One
 * thing after another, in small transactions; what a crash leaves is found at the next start.
 */
export function openSweeper(deps: SweeperDeps): Sweeper {
  const closing = new AbortController();
  const { signal } = closing;

  const sweepCollection = createCollectionSweep(deps, signal);

  async function look(): Promise<void> {
    while (!signal.aborted && ((await sweepRecord(deps, signal)) || (await sweepCollection())));
  }

  const polling = startPolling({
    look,
    everyMs: deps.pollMs,
    onError: (error) => {
      if (!signal.aborted) deps.logger.error({ err: error }, 'sweeping failed');
    },
  });
  return {
    wake: polling.wake,
    async close() {
      closing.abort();
      await polling.close();
    },
  };
}

/** @returns whether there was one. */
async function sweepRecord(deps: SweeperDeps, signal: AbortSignal): Promise<boolean> {
  const { jobs, clock } = deps;
  const now = clock.now();
  const times = { now, leaseUntil: now + deps.leaseMs };
  const job = await jobs.claim({ lane: 'sweeping', token: deps.newId('run'), ...times });
  if (job === undefined) return false;
  try {
    await sweepAll(deps, job, signal);
  } catch (error) {
    // So that one record that cannot be swept does not keep the others waiting.
    deps.metrics?.sweepFailed();
    deps.logger.warn({ err: error, record_id: job.id }, 'record sweep failed');
    await jobs.giveBack(job, { runAfter: clock.now() + backoffMs, attempt: job.attempt });
  }
  return true;
}

async function sweepAll({ jobs, clock, leaseMs }: SweeperDeps, job: RecordJob, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (signal.aborted) return jobs.giveBack(job, { runAfter: clock.now(), attempt: 0 });
    const swept = await jobs.sweep(job, { limit: rowsAtOnce, leaseUntil: clock.now() + leaseMs });
    if (swept !== 'more') return;
  }
}

interface Postponed {
  readonly failures: number;
  /** By `performance.now()`. */
  readonly until: number;
}

/** Sweeps one collection. A failed one is retried later and does not delay the next. */
function createCollectionSweep(deps: SweeperDeps, signal: AbortSignal): () => Promise<boolean> {
  const { collections, logger, metrics } = deps;
  const postponed = new Map<string, Postponed>();

  function postpone(collectionId: string): number {
    const failures = (postponed.get(collectionId)?.failures ?? 0) + 1;
    const pause = Math.min(longestBackoffMs, backoffMs * 2 ** Math.min(failures - 1, 20));
    postponed.set(collectionId, { failures, until: performance.now() + pause });
    return pause;
  }

  /** @returns whether there was one */
  return async () => {
    const now = performance.now();
    const waiting = [...postponed].filter(([, { until }]) => until > now).map(([id]) => id);
    if (waiting.length >= mostPostponed) return false;
    const collectionId = await collections.findDeleting(waiting);
    if (collectionId === undefined) return false;
    try {
      await collections.sweep(collectionId, rowsAtOnce, signal);
      postponed.delete(collectionId);
    } catch (error) {
      if (signal.aborted) return false;
      metrics?.sweepFailed();
      const pause = postpone(collectionId);
      logger.error({ err: error, collection_id: collectionId, retry_ms: pause }, 'collection sweep failed');
    }
    return true;
  };
}

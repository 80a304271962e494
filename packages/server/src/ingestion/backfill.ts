import { type Lease, WorkerStopping } from '../jobs/job.ts';
import { type JobHandler, openWorker, type Worker } from '../jobs/worker.ts';
import type { Clock } from '../kernel/clock.ts';
import { retryDelayMs } from '../kernel/concurrency/retry-delay.ts';
import type { DiskSpace } from '../kernel/disk/disk-space.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/log/logger.ts';
import type { Embedder } from '../search/embedding/embedder.ts';
import type { BackfillJob, VectorRepository } from '../search/vector-repository.ts';
import { embedMissing } from './embed-chunks.ts';

export interface BackfillDeps {
  readonly embedder: Embedder;
  readonly vectors: VectorRepository;
  readonly space?: DiskSpace | undefined;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly pollMs: number;
  /** The delay before the second attempt, in milliseconds. It doubles with each further attempt, up to five minutes. */
  readonly backoffMs: number;
}

export interface Backfill extends Pick<Worker, 'wake' | 'close'> {
  /** Whether every collection has been marked for the backfill since the start. */
  isReady(): boolean;
}

/** `confirm` only checks whether a vector is missing. `embed` creates the missing vectors. */
interface ClaimedBackfill extends BackfillJob {
  readonly kind: 'confirm' | 'embed';
}

const longestBackoffMs = 5 * 60_000;
/** The longest delay, requested by the embedder, that is kept. */
const longestRequestedMs = 60 * 60_000;

/**
 * Embeds visible chunks that have no vector: chunks created or changed directly, records published before their
 * vectors, and collections older than the embedder. It processes one collection at a time and repeats it until it
 * succeeds.
 * After a start, every collection is marked and queries use full-text search only. Collections that have all their
 * vectors are confirmed before the first text is embedded, so that they do not wait for an unavailable embedder.
 */
export function openBackfill(deps: BackfillDeps): Backfill {
  const { vectors, embedder, space, leaseMs, pollMs, clock, newId, logger } = deps;
  const { model } = embedder;
  let phase: 'starting' | 'confirming' | 'embedding' = 'starting';

  async function claim(lease: Lease): Promise<ClaimedBackfill | undefined> {
    if (phase === 'starting') {
      await vectors.adoptAll(model);
      phase = 'confirming';
    }
    if (phase === 'confirming') {
      const job = await vectors.claimBackfill({ model, ...lease, isFirst: true });
      if (job !== undefined) return { ...job, kind: 'confirm' };
      phase = 'embedding';
    }
    if ((await space?.hasFreeSpace()) === false) return undefined;
    await vectors.requeueFailed({ model, now: clock.now() });
    const job = await vectors.claimBackfill({ model, ...lease });
    return job && { ...job, kind: 'embed' };
  }

  const worker = openWorker<ClaimedBackfill>({
    name: 'backfills',
    concurrency: 1,
    claim,
    handle: (job, { signal }) => backfill(deps, job, signal),
    ...{ leaseMs, pollMs, clock, newId, logger },
  });
  return { wake: worker.wake, close: worker.close, isReady: () => phase !== 'starting' };
}

function backfill(deps: BackfillDeps, job: ClaimedBackfill, signal: AbortSignal): JobHandler {
  const { vectors, clock, logger } = deps;
  const of = { collectionId: job.id };
  const requeue = (pauseMs: number) => vectors.endBackfill(job, { done: false, runAfter: clock.now() + pauseMs });
  const backoffMs = retryDelayMs({ firstMs: deps.backoffMs, longestMs: longestBackoffMs }, job.attempt);

  async function confirm(): Promise<void> {
    const [missing] = await vectors.missing(of, { after: null, limit: 1, now: clock.now() });
    await (missing === undefined ? vectors.endBackfill(job, { done: true }) : requeue(0));
  }

  async function embed(): Promise<void> {
    const end = await embedMissing(deps, { of, signal, onRound: () => true });
    if (end.kind === 'done') return vectors.endBackfill(job, { done: true });
    if (end.kind !== 'unavailable') return;
    const pauseMs = Math.max(backoffMs, Math.min(end.retryAfterMs ?? 0, longestRequestedMs));
    logger.warn({ collection_id: job.id, reason: end.message, pause_ms: pauseMs }, 'backfill requeued: no vectors');
    await requeue(pauseMs);
  }

  return {
    perform: job.kind === 'confirm' ? confirm : embed,
    renew: (leaseUntil) => vectors.renewBackfill(job, leaseUntil),
    async settle(reason) {
      // A time of zero is always due, even if the clock was changed.
      if (reason instanceof WorkerStopping) return vectors.endBackfill(job, { done: false, runAfter: 0 });
      logger.error({ err: reason, collection_id: job.id, pause_ms: backoffMs }, 'backfill requeued: attempt failed');
      await requeue(backoffMs);
    },
  };
}

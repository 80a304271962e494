import type { CommonDeps } from '../../platform/common-deps.ts';
import { retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import { type Lease, WorkerStopping } from '../../platform/jobs/job.ts';
import { type JobHandler, openWorker, type Worker } from '../../platform/jobs/worker.ts';
import type { BackfillEnd, BackfillJob, StoredFailure } from '../search/vector-repository.ts';
import { type EmbedDeps, embedSlice } from './embed-chunks.ts';

export interface BackfillDeps extends Pick<CommonDeps, 'clock' | 'logger' | 'newId'>, EmbedDeps {
  /** Whether collections without a model get the model of the embedder. */
  readonly adoptsCollections: boolean;
  /** The model whose collections get the model of the embedder, too. */
  readonly formerModel: string | undefined;
  /** Whether no other process uses the database, so that what a crash has interrupted continues immediately. */
  readonly alone: boolean;
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

const internalFailure =
  'The service failed to embed chunks for an internal reason. Look for "backfill requeued" in its log.';

/** The collections whose chunks are embedded at the same time, so that a small one does not wait for a large one. */
const concurrentCollections = 2;

/**
 * Embeds visible chunks that have no vector: those of new records, chunks created or changed directly, and collections
 * older than the embedder. Projects, and the collections of a project, take turns: a turn is one slice of a collection. A
 * collection is repeated until it succeeds.
 * Each model has a backfill of its own, which embeds the collections whose vectors are of this model.
 * After a start, every collection is marked and queries use full-text search only. Collections that have all their
 * vectors are confirmed before the first text is embedded, so that they do not wait for an unavailable embedder.
 */
export function openBackfill(deps: BackfillDeps): Backfill {
  const { vectors, embedder, space, leaseMs, pollMs, clock, newId, logger } = deps;
  const { model } = embedder;
  let phase: 'starting' | 'confirming' | 'embedding' = 'starting';
  let lastProject = '';
  let requeueAt = Number.NEGATIVE_INFINITY;

  /** Marks collections whose failed texts are due. Slices are claimed many times a second, so not at every claim. */
  async function requeueFailed(): Promise<void> {
    const now = clock.now();
    if (now < requeueAt && requeueAt - now <= pollMs) return;
    requeueAt = now + pollMs;
    await vectors.requeueFailed({ model, now });
  }

  async function claim(lease: Lease): Promise<ClaimedBackfill | undefined> {
    if (phase === 'starting') {
      if (deps.adoptsCollections) await vectors.adoptAll(model);
      if (deps.formerModel !== undefined) await vectors.replaceAll(deps.formerModel, model);
      if (deps.alone) await vectors.endLeases(model);
      await vectors.requeueAll(model);
      phase = 'confirming';
    }
    if (phase === 'confirming') {
      const job = await vectors.claimBackfill({ model, ...lease, kind: 'confirm' });
      if (job !== undefined) return { ...job, kind: 'confirm' };
      phase = 'embedding';
    }
    if (embedder.isPaused() || (await space?.hasFreeSpace()) === false) return undefined;
    await requeueFailed();
    const job = await vectors.claimBackfill({ model, ...lease, kind: 'embed', afterProject: lastProject });
    lastProject = job?.projectId ?? lastProject;
    return job && { ...job, kind: 'embed' };
  }

  const worker = openWorker<ClaimedBackfill>({
    name: 'backfills',
    concurrency: concurrentCollections,
    claim,
    handle: (job, { signal }) => backfill(deps, job, signal),
    leaseMs,
    pollMs,
    clock,
    newId,
    logger,
  });
  return { wake: worker.wake, close: worker.close, isReady: () => phase !== 'starting' };
}

function backfill(deps: BackfillDeps, job: ClaimedBackfill, signal: AbortSignal): JobHandler {
  const { vectors, clock, logger } = deps;
  async function end(as: BackfillEnd): Promise<void> {
    const ended = await vectors.endBackfill(job, as);
    if (ended === 'swapped')
      logger.info({ collection_id: job.collectionId, model: deps.embedder.model }, 'vectors replaced');
  }

  function defer(pauseMs: number, reason: string): Promise<void> {
    const at = clock.now();
    const runAfter = at + pauseMs;
    return end({ kind: 'deferred', runAfter, failure: { reason, at, retryAt: runAfter } });
  }
  const backoffMs = retryDelayMs({ firstMs: deps.backoffMs, longestMs: longestBackoffMs }, job.attempt);

  async function confirm(): Promise<void> {
    const [missing] = await vectors.missing(job, { after: '', limit: 1, now: clock.now() });
    await end(missing === undefined ? { kind: 'done', failure: null } : nextSlice(''));
  }

  const nextSlice = (reached: string) => ({ kind: 'continued', reached, runAfter: clock.now() }) as const;

  const failureOf = (failed: StoredFailure | undefined) =>
    failed === undefined ? null : { reason: failed.reason, at: clock.now(), retryAt: failed.retryAt };

  async function embed(): Promise<void> {
    const slice = await embedSlice(deps, job, signal);
    switch (slice.kind) {
      case 'done':
        return end({ kind: 'done', failure: failureOf(slice.failed) });
      case 'more':
        return end({ ...nextSlice(slice.reached), failure: failureOf(slice.failed) });
      case 'other_model':
        // The collection has a new model and is not claimed for this one again.
        return end({ kind: 'deferred', runAfter: 0 });
      case 'unavailable': {
        const pauseMs = Math.max(backoffMs, Math.min(slice.retryAfterMs ?? 0, longestRequestedMs));
        logger.warn(
          { collection_id: job.collectionId, reason: slice.message, pause_ms: pauseMs },
          'backfill requeued: no vectors',
        );
        return defer(pauseMs, slice.message);
      }
    }
  }

  return {
    perform: job.kind === 'confirm' ? confirm : embed,
    renew: (leaseUntil) => vectors.renewBackfill(job, leaseUntil),
    async settle(reason) {
      // A time of zero is always due, even if the clock was changed.
      if (reason instanceof WorkerStopping) return end({ kind: 'deferred', runAfter: 0 });
      logger.error(
        { err: reason, collection_id: job.collectionId, pause_ms: backoffMs },
        'backfill requeued: attempt failed',
      );
      await defer(backoffMs, internalFailure);
    },
  };
}

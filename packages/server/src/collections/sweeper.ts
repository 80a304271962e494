import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/logger.ts';
import type { CollectionRepository } from './collection-repository.ts';
import { startPolling } from './polling.ts';
import type { RecordJob, RecordJobRepository } from './record-job-repository.ts';

export interface SweeperDeps {
  readonly jobs: RecordJobRepository;
  readonly collections: Pick<CollectionRepository, 'findDeleting' | 'sweep'>;
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

/**
 * Removes what nobody sees any more: deleted collections, deleted records, and chunks that a record has replaced. One
 * thing after another, in small transactions; what a crash leaves is found at the next start.
 */
export function openSweeper(deps: SweeperDeps): Sweeper {
  const closing = new AbortController();
  const { signal } = closing;

  async function look(): Promise<void> {
    while (!signal.aborted && ((await sweepRecord(deps, signal)) || (await sweepCollection(deps, signal))));
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
  const times = { now, leaseUntil: now + deps.leaseMs, deadlineAt: Number.MAX_SAFE_INTEGER };
  const job = await jobs.claim({ lane: 'sweeping', token: deps.newId('run'), ...times });
  if (job === undefined) return false;
  try {
    await sweepAll(deps, job, signal);
  } catch (error) {
    // So that one record that cannot be swept does not keep the others waiting.
    deps.logger.warn({ err: error, record_id: job.id }, 'a record could not be swept');
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

/** @returns whether there was one. */
async function sweepCollection({ collections }: SweeperDeps, signal: AbortSignal): Promise<boolean> {
  const collectionId = await collections.findDeleting();
  if (collectionId === undefined) return false;
  await collections.sweep(collectionId, rowsAtOnce, signal);
  return true;
}

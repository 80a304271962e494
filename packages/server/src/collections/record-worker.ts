import type { RecordFailure } from '@quartermaster/contract';
import type { Logger } from '../kernel/logger.ts';
import { ClaimLost, type ProcessDeps } from './extract-record.ts';
import { startPolling } from './polling.ts';
import { processRecord, ReaderKilled } from './process-record.ts';
import { createProgress } from './progress.ts';
import type { RecordJob } from './record-job-repository.ts';

export interface WorkerDeps extends ProcessDeps {
  readonly logger: Logger;
  /** Records made at the same time. One more may be made by the worker that is reserved for projects without any. */
  readonly concurrency: number;
  /** Milliseconds that making one record may take, all tries together. */
  readonly deadlineMs: number;
  /** A failure of ours is tried again so often in all. */
  readonly maxAttempts: number;
  /** Milliseconds before the second try; twice as long before each further one. */
  readonly backoffMs: number;
  /** No other process works on this database: what is claimed when this one starts was left by a crash. */
  readonly alone: boolean;
  /** Milliseconds between looks for records that nobody told about. */
  readonly pollMs: number;
  /** Status, stage or percent of a record changed. */
  readonly onChanged: (recordId: string) => void;
  /** A record ended and may have left something to sweep. */
  readonly onEnded: () => void;
}

export const workerDefaults = {
  leaseMs: 30_000,
  deadlineMs: 30 * 60_000,
  maxAttempts: 3,
  backoffMs: 1_000,
  pollMs: 1_000,
} as const;

export interface RecordWorker {
  /** A record waits. */
  wake(): void;
  /** The work on this record may be void: it was remade or deleted. */
  recheck(recordId: string): void;
  /** Takes nothing up any more and gives back what it has, so that another start goes on at once. */
  close(): Promise<void>;
}

interface Running extends Work {
  /** `reserved`: the one that takes small records of projects that have none in work. */
  readonly worker: 'any' | 'reserved';
}

interface Work {
  readonly recordId: string;
  readonly recheck: () => void;
  readonly stop: (reason: Error) => void;
  readonly done: Promise<void>;
}

class Closing extends Error {}
class DeadlinePassed extends Error {}

/** Makes records, several at a time, until closed. Every claim has a lease that is kept alive while the work goes on. */
export function openRecordWorker(deps: WorkerDeps): RecordWorker {
  const running = new Map<string, Running>();
  let closing = false;
  let leftovers = deps.alone;

  async function takeUp(): Promise<void> {
    if (leftovers) await deps.jobs.endLeases();
    leftovers = false;
    for (;;) {
      const worker = freeWorker();
      if (closing || worker === undefined) return;
      const now = deps.clock.now();
      const token = deps.newId('run');
      const times = { now, leaseUntil: now + deps.leaseMs, deadlineAt: now + deps.deadlineMs };
      const job = await deps.jobs.claim({ lane: 'making', token, ...times, reserved: worker === 'reserved' });
      if (job === undefined) return;
      deps.onChanged(job.id);
      running.set(token, { ...start(job), worker });
    }
  }

  function freeWorker(): Running['worker'] | undefined {
    const reserved = [...running.values()].filter(({ worker }) => worker === 'reserved').length;
    if (running.size - reserved < deps.concurrency) return 'any';
    return reserved === 0 ? 'reserved' : undefined;
  }

  function start(job: RecordJob): Work {
    const controller = new AbortController();
    const stop = (reason: Error) => controller.abort(reason);
    const progress = createProgress(deps, job, () => stop(new ClaimLost()));
    const watch = deps.metrics?.follow();
    const onProgress: typeof progress.report = (stage, percent) => {
      watch?.at(stage);
      progress.report(stage, percent);
    };
    const deadline = setTimeout(() => stop(new DeadlinePassed()), Math.max(0, job.deadlineAt - deps.clock.now()));
    const run = async () => {
      try {
        if (job.attempt > deps.maxAttempts) throw new Error('given up after too many tries');
        await processRecord(deps, job, { signal: controller.signal, onProgress });
      } catch (error) {
        await settle(deps, job, controller.signal.aborted ? controller.signal.reason : error);
      } finally {
        clearTimeout(deadline);
        watch?.end();
        await progress.close();
      }
    };
    const done = run()
      .catch((error: unknown) => deps.logger.error({ err: error, record_id: job.id }, 'a record stays claimed'))
      .finally(() => {
        running.delete(job.token);
        deps.onChanged(job.id);
        deps.onEnded();
        polling.wake();
      });
    if (closing) stop(new Closing());
    return { recordId: job.id, recheck: progress.beat, stop, done };
  }

  const polling = startPolling({
    look: takeUp,
    everyMs: deps.pollMs,
    onError: (error) => deps.logger.error({ err: error }, 'looking for records failed'),
  });

  return {
    wake: polling.wake,
    recheck(recordId) {
      for (const work of running.values()) if (work.recordId === recordId) work.recheck();
    },
    async close() {
      closing = true;
      await polling.close();
      for (const work of running.values()) work.stop(new Closing());
      await Promise.all([...running.values()].map((work) => work.done));
    },
  };
}

/** What becomes of a record whose making did not come to an end. */
async function settle(deps: WorkerDeps, job: RecordJob, reason: unknown): Promise<void> {
  const { jobs, clock, logger } = deps;
  const now = clock.now();
  if (reason instanceof ClaimLost) return;
  if (reason instanceof Closing) return jobs.giveBack(job, { runAfter: now, attempt: job.attempt - 1 });
  const about = { err: reason, record_id: job.id, attempt: job.attempt };
  if (reason instanceof DeadlinePassed) {
    logger.warn(about, 'a record was not made in time');
    await jobs.fail(job, tooLate, { report: null, now });
  } else if (job.attempt >= deps.maxAttempts) {
    logger.error(about, 'a record could not be made');
    await jobs.fail(job, lastFailure(reason, deps.maxAttempts), { report: null, now });
  } else {
    logger.warn(about, 'a record is tried again');
    const runAfter = now + deps.backoffMs * 2 ** (job.attempt - 1);
    await jobs.giveBack(job, { runAfter, attempt: job.attempt });
  }
}

const tooLate: RecordFailure = { code: 'time_limit', message: 'The record was not made in time.' };

function lastFailure(reason: unknown, attempts: number): RecordFailure {
  if (reason instanceof ReaderKilled) return { code: reason.failure.code, message: reason.failure.message };
  return {
    code: 'internal_error',
    message: `The service failed while it made this record, ${attempts} times. Update the record to try again.`,
  };
}

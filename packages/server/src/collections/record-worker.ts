import { setTimeout as pause } from 'node:timers/promises';
import type { RecordFailure } from '@quartermaster/contract';
import { BlobUnreadable } from '../files/blob-store.ts';
import { StoredContentDamaged } from '../files/file-access.ts';
import type { DiskSpace } from '../kernel/disk-space.ts';
import type { Logger } from '../kernel/logger.ts';
import { isTemporary, type Problem } from '../kernel/problem.ts';
import { readRetryAfter } from '../kernel/retry-after.ts';
import { ClaimLost, type ProcessDeps } from './extract-record.ts';
import { startPolling } from './polling.ts';
import { processRecord, ReaderKilled } from './process-record.ts';
import { createProgress } from './progress.ts';
import { recordFailureCodes } from './record-failures.ts';
import type { RecordJob } from './record-job-repository.ts';
import { startDeadline } from './work-deadline.ts';

export interface WorkerDeps extends ProcessDeps {
  readonly logger: Logger;
  /** Records processed at the same time, plus one by the reserved worker for projects without any in progress. */
  readonly concurrency: number;
  /** Milliseconds that the work on one record may take, all tries together; the time between them does not count. */
  readonly deadlineMs: number;
  /** Milliseconds that a record may wait for its first try while the service and its database are available. */
  readonly maxWaitMs: number;
  /** A failure of ours is tried again so often in all. */
  readonly maxAttempts: number;
  /** Milliseconds before the second try; twice as long before each further one. */
  readonly backoffMs: number;
  /** No other process works on this database: what is claimed when this one starts was left by a crash. */
  readonly alone: boolean;
  /** Milliseconds between looks for records that nobody told about. */
  readonly pollMs: number;
  /** While the disk is nearly full, no record is claimed and records in progress wait. Default: never full. */
  readonly space?: DiskSpace | undefined;
  /** Status, stage or percent of a record changed. */
  readonly onChanged: (recordId: string) => void;
  /** A record ended and may have left something to sweep. */
  readonly onEnded: () => void;
}

export const workerDefaults = {
  leaseMs: 30_000,
  deadlineMs: 30 * 60_000,
  maxWaitMs: 24 * 60 * 60_000,
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
  /** `reserved`: the worker for small records of projects that have none in progress. */
  readonly worker: 'any' | 'reserved';
}

interface Work {
  readonly recordId: string;
  readonly recheck: () => void;
  readonly stop: (reason: Error) => void;
  readonly done: Promise<void>;
}

interface WorkEnd {
  readonly reason: unknown;
  /** Milliseconds that all tries together have worked on it. */
  readonly workedMs: () => number;
}

class Closing extends Error {}
class DeadlinePassed extends Error {}

/** Makes records, several at a time, until closed. Every claim has a lease that is kept alive while the work goes on. */
export function openRecordWorker(deps: WorkerDeps): RecordWorker {
  const running = new Map<string, Running>();
  let closing = false;
  let leftovers = deps.alone;
  const settling = createSettling(deps, () => closing);
  /** Start of the current period in which searches for records succeed, by `performance.now()`. */
  let lookingSince = performance.now();

  /** The record was not claimed in time although workers were running. */
  const isOverdue = (job: RecordJob) =>
    job.attempt === 1 && job.deadlineAt <= deps.clock.now() && performance.now() - lookingSince >= deps.maxWaitMs;

  async function takeUp(): Promise<void> {
    // Their leases may have expired and are still held by this process.
    if (settling.isPending()) return;
    if (leftovers) await deps.jobs.endLeases();
    leftovers = false;
    for (;;) {
      const worker = freeWorker();
      if (closing || worker === undefined || (await deps.space?.hasRoom()) === false) return;
      const now = deps.clock.now();
      const token = deps.newId('run');
      const times = { now, leaseUntil: now + deps.leaseMs };
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
    const { signal } = controller;
    const timeLeft = isOverdue(job) ? 0 : Math.max(0, deps.deadlineMs - job.workedMs);
    const onPassed = () => stop(new DeadlinePassed());
    const deadline = startDeadline({ milliseconds: timeLeft, space: deps.space, signal, onPassed });
    const workedMs = () => Math.round(job.workedMs + deadline.workedMs());
    const progress = createProgress({ ...deps, workedMs }, job, () => stop(new ClaimLost()));
    const watch = deps.metrics?.follow();
    const onProgress: typeof progress.report = (stage, percent) => {
      watch?.at(stage);
      progress.report(stage, percent);
    };
    const run = async () => {
      try {
        if (timeLeft === 0) throw new DeadlinePassed();
        if (job.attempt > deps.maxAttempts) throw new Error('given up after too many tries');
        await processRecord(deps, job, { signal, onProgress, untilRoom: deadline.untilRoom });
      } catch (error) {
        await settling.settle(job, { reason: signal.aborted ? signal.reason : error, workedMs });
      } finally {
        deadline.stop();
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
    onError: (error) => {
      lookingSince = performance.now();
      deps.logger.error({ err: error }, 'looking for records failed');
    },
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

/** Settles records, and retries until the database accepts it. Otherwise the next claim would count a try that did not take place. */
function createSettling(deps: WorkerDeps, isClosing: () => boolean) {
  let pending = 0;
  return {
    isPending: () => pending > 0,
    async settle(job: RecordJob, end: WorkEnd): Promise<void> {
      pending += 1;
      try {
        for (;;) {
          try {
            return await settle(deps, job, end);
          } catch (error) {
            if (!isTemporary(error) || isClosing()) throw error;
            deps.logger.warn({ err: error, record_id: job.id }, 'record not requeued; trying again');
            await pause(deps.pollMs);
          }
        }
      } finally {
        pending -= 1;
      }
    },
  };
}

/** What becomes of a record whose making did not come to an end. */
async function settle(deps: WorkerDeps, job: RecordJob, end: WorkEnd): Promise<void> {
  const { jobs, clock, logger } = deps;
  const { reason } = end;
  const now = clock.now();
  const workedMs = end.workedMs();
  if (reason instanceof ClaimLost) return;
  if (reason instanceof Closing) return jobs.giveBack(job, { runAfter: now, attempt: job.attempt - 1, workedMs });
  const about = { err: reason, record_id: job.id, attempt: job.attempt };
  if (reason instanceof StoredContentDamaged) {
    logger.error(about, 'record failed: its stored file is damaged');
    await jobs.fail(job, contentDamaged, { report: null, now });
    // A read that failed may succeed, but not for ever: it counts as a try.
  } else if (isTemporary(reason) && !(reason instanceof BlobUnreadable)) {
    logger.warn(about, 'record requeued: the database or its disk is not available');
    await jobs.giveBack(job, { runAfter: now + pauseAfter(deps, reason), attempt: job.attempt - 1, workedMs });
  } else if (reason instanceof DeadlinePassed) {
    logger.warn(about, 'a record was not made in time');
    await jobs.fail(job, tooLate, { report: null, now });
  } else if (job.attempt >= deps.maxAttempts) {
    logger.error(about, 'a record could not be made');
    await jobs.fail(job, lastFailure(reason, deps.maxAttempts), { report: null, now });
  } else {
    logger.warn(about, 'a record is tried again');
    const runAfter = now + deps.backoffMs * 2 ** (job.attempt - 1);
    await jobs.giveBack(job, { runAfter, attempt: job.attempt, workedMs });
  }
}

/** Milliseconds. A second is the least that the header can say, so the own back-off decides about that. */
function pauseAfter({ backoffMs }: WorkerDeps, problem: Problem): number {
  const asked = readRetryAfter(problem.headers['Retry-After']) ?? 0;
  return asked > 1000 ? asked : backoffMs;
}

const tooLate: RecordFailure = { code: 'time_limit', message: 'The record was not made in time.' };

const contentDamaged: RecordFailure = { code: 'content_damaged', message: recordFailureCodes.content_damaged };

function lastFailure(reason: unknown, attempts: number): RecordFailure {
  if (reason instanceof BlobUnreadable) return contentDamaged;
  if (reason instanceof ReaderKilled) return { code: reason.failure.code, message: reason.failure.message };
  return {
    code: 'internal_error',
    message: `The service failed while it made this record, ${attempts} times. Update the record to try again.`,
  };
}

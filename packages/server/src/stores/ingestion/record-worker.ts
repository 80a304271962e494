import type { RecordFailure, RecordStage } from '@quartermaster/contract';
import { keptPlaces } from '../../platform/admission/admission-queue.ts';
import { retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import { type DiskSpace, unlimitedSpace } from '../../platform/disk/disk-space.ts';
import { type Lease, WorkerStopping } from '../../platform/jobs/job.ts';
import { type JobControl, type JobHandler, openWorker, type Worker } from '../../platform/jobs/worker.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { isTemporary, type Problem } from '../../platform/problem.ts';
import { readRetryAfter } from '../../platform/retry-after.ts';
import { recordFailureCodes } from '../collections/records/record-failures.ts';
import { BlobUnreadable } from '../files/blob-store.ts';
import { StoredContentDamaged } from '../files/file-access.ts';
import type { ProcessDeps } from './extract-record.ts';
import { processRecord, ReaderKilled } from './process-record.ts';
import type { RecordClaim, RecordJob } from './record-job-repository.ts';

export interface RecordWorkerDeps extends ProcessDeps {
  readonly logger: Logger;
  /**
   * The maximum number of records ingested concurrently. Two reserved workers are added: one for projects and one for keys
   * without a record in progress.
   */
  readonly concurrency: number;
  /** The time limit for one record in milliseconds, over all attempts. Pauses between attempts do not count. */
  readonly deadlineMs: number;
  /**
   * The maximum wait of a record for its first attempt in milliseconds. Only time in which the service and its database
   * are available counts.
   */
  readonly maxWaitMs: number;
  /** The maximum number of attempts that fail for a reason of the service. After these the record fails. */
  readonly maxAttempts: number;
  /** The delay before the second attempt, in milliseconds. It doubles with each further attempt. */
  readonly backoffMs: number;
  /** No other process uses this database. Leases found at the start were therefore left by a crash. */
  readonly alone: boolean;
  /** The interval between searches for records, in milliseconds. It finds records that triggered no notification. */
  readonly pollMs: number;
  /** While the disk is nearly full, no record is claimed and records in progress wait. Default: never full. */
  readonly space?: DiskSpace | undefined;
  /** Called when the status, stage or percentage of a record has changed. */
  readonly onChanged: (recordId: string) => void;
  /** Called when a record has ended. */
  readonly onEnded: (ended: Pick<RecordJob, 'isRechunked'>) => void;
  /** Called when a record that has ended may have left rows to sweep. */
  readonly onLeftovers: () => void;
}

export const workerDefaults = {
  leaseMs: 30_000,
  deadlineMs: 30 * 60_000,
  maxWaitMs: 24 * 60 * 60_000,
  maxAttempts: 3,
  backoffMs: 1_000,
  pollMs: 1_000,
} as const;

const longestBackoffMs = 5 * 60_000;

interface ClaimedRecord extends RecordJob {
  /** Set when a reserved worker claimed it. */
  readonly reserved: RecordClaim['reserved'];
  /** It was not claimed in time although workers were running. */
  readonly isOverdue: boolean;
}

class DeadlinePassed extends Error {}

/** Ingests records concurrently until it is closed. */
export function openRecordWorker(deps: RecordWorkerDeps): Worker {
  const { leaseMs, pollMs, clock, newId, logger, space, onChanged, onEnded } = deps;
  return openWorker<ClaimedRecord>({
    name: 'records',
    concurrency: deps.concurrency + keptPlaces,
    mayClaim: async () => (await space?.hasFreeSpace()) ?? true,
    claim: createClaim(deps),
    handle: (job, control) => ingest(deps, job, control),
    onClaimed: ({ id }) => onChanged(id),
    onRenewed: ({ id }) => onChanged(id),
    onEnded: (job) => {
      onChanged(job.id);
      onEnded(job);
    },
    leaseMs,
    pollMs,
    clock,
    newId,
    logger,
  });
}

/** Decides whether the free worker is a reserved one, and whether the record waited too long. */
function createClaim({ jobs, concurrency, alone, maxWaitMs }: RecordWorkerDeps) {
  let hasOrphans = alone;
  /** Start of the current period in which claims succeed, by `performance.now()`. */
  let availableSince = performance.now();

  return async (lease: Lease, running: readonly ClaimedRecord[]): Promise<ClaimedRecord | undefined> => {
    try {
      if (hasOrphans) await jobs.endLeases();
      hasOrphans = false;
      for (const reserved of freeKinds(running, concurrency)) {
        const job = await jobs.claim({ kind: 'ingest', ...lease, ...(reserved && { reserved }) });
        if (job === undefined) continue;
        const isLate = job.attempt === 1 && job.deadlineAt <= lease.now;
        return { ...job, reserved, isOverdue: isLate && performance.now() - availableSince >= maxWaitMs };
      }
      return undefined;
    } catch (error) {
      availableSince = performance.now();
      throw error;
    }
  };
}

/** Returns the kinds of free workers; undefined for one that takes any record. */
function freeKinds(running: readonly ClaimedRecord[], concurrency: number): ReadonlyArray<RecordClaim['reserved']> {
  const isBusy = running.filter(({ reserved }) => reserved === undefined).length >= concurrency;
  if (!isBusy) return [undefined];
  return (['project', 'key'] as const).filter((kind) => running.every(({ reserved }) => reserved !== kind));
}

/** One attempt to ingest a record. */
function ingest(deps: RecordWorkerDeps, job: ClaimedRecord, { signal, stop, renewSoon }: JobControl): JobHandler {
  const timeLeft = job.isOverdue ? 0 : Math.max(0, deps.deadlineMs - job.workedMs);
  const onPassed = () => stop(new DeadlinePassed());
  const deadline = startDeadline({ milliseconds: timeLeft, space: deps.space, signal, onPassed });
  const workedMs = () => Math.ceil(job.workedMs + deadline.workedMs());
  const watch = deps.metrics?.follow();
  let isClean = false;
  let progress: { stage: RecordStage; percent: number } = { stage: 'queued', percent: 0 };

  function onProgress(stage: RecordStage, exact: number): void {
    watch?.at(stage);
    const percent = Math.min(100, Math.max(0, Math.round(exact)));
    if (stage === progress.stage && percent === progress.percent) return;
    progress = { stage, percent };
    renewSoon();
  }

  return {
    async perform() {
      if (timeLeft === 0) throw new DeadlinePassed();
      if (job.attempt > deps.maxAttempts) throw new Error('The record failed: no attempts are left.');
      isClean = !(await processRecord(deps, job, { signal, onProgress, untilFreeSpace: deadline.untilFreeSpace }));
    },
    settle: (reason) => settle(deps, job, { reason, workedMs: workedMs() }),
    renew: (leaseUntil) => deps.jobs.renew(job, { ...progress, leaseUntil, workedMs: workedMs() }),
    close() {
      deadline.stop();
      watch?.end();
      if (!isClean) deps.onLeftovers();
    },
  };
}

interface AttemptEnd {
  readonly reason: unknown;
  /** Milliseconds of work on the record, over all attempts. */
  readonly workedMs: number;
}

/** Requeues or fails a record whose attempt did not succeed. Only failures of the record or the service count. */
async function settle(deps: RecordWorkerDeps, job: RecordJob, { reason, workedMs }: AttemptEnd): Promise<void> {
  const { jobs, clock, logger } = deps;
  const now = clock.now();
  const backoffMs = retryDelayMs({ firstMs: deps.backoffMs, longestMs: longestBackoffMs }, job.attempt);
  if (reason instanceof WorkerStopping) {
    return jobs.requeue(job, { runAfter: now, attempt: job.attempt - 1, workedMs });
  }
  const about = { err: reason, record_id: job.id, attempt: job.attempt };
  if (reason instanceof StoredContentDamaged) {
    logger.error(about, 'record failed: its stored file is damaged');
    await jobs.fail(job, contentDamaged, { report: null, now });
    // A failed read may succeed later, but must not repeat for ever, so it counts as an attempt.
  } else if (isTemporary(reason) && !(reason instanceof BlobUnreadable)) {
    logger.warn(about, 'record requeued: the database or its disk is not available');
    const runAfter = now + pauseAfter(deps, reason);
    await jobs.requeue(job, { runAfter, attempt: job.attempt - 1, workedMs });
  } else if (reason instanceof DeadlinePassed) {
    logger.warn(about, 'record failed: time limit exceeded');
    await jobs.fail(job, tooLate, { report: null, now });
  } else if (job.attempt >= deps.maxAttempts) {
    logger.error(about, 'record failed: no attempts left');
    await jobs.fail(job, lastFailure(reason, deps.maxAttempts), { report: null, now });
  } else {
    logger.warn(about, 'record requeued: attempt failed');
    await jobs.requeue(job, { runAfter: now + backoffMs, attempt: job.attempt, workedMs });
  }
}

/** In milliseconds. A header value of one second is the minimum, so the worker uses its own back-off instead. */
function pauseAfter({ backoffMs }: RecordWorkerDeps, problem: Problem): number {
  const requestedWait = readRetryAfter(problem.headers['Retry-After']) ?? 0;
  return requestedWait > 1000 ? requestedWait : backoffMs;
}

const tooLate: RecordFailure = { code: 'time_limit', message: 'The record was not created in time.' };

const contentDamaged: RecordFailure = { code: 'content_damaged', message: recordFailureCodes.content_damaged };

function lastFailure(reason: unknown, attempts: number): RecordFailure {
  if (reason instanceof BlobUnreadable) return contentDamaged;
  if (reason instanceof ReaderKilled) return { code: reason.failure.code, message: reason.failure.message };
  return {
    code: 'internal_error',
    message: `The service failed ${attempts} times while it created this record. Update the record to try again.`,
  };
}

interface DeadlineOptions {
  /** The time limit of the work. */
  readonly milliseconds: number;
  readonly space: DiskSpace | undefined;
  readonly signal: AbortSignal;
  readonly onPassed: () => void;
}

interface WorkDeadline {
  /** Waits while the disk is nearly full. That time does not count. */
  untilFreeSpace(): Promise<void>;
  /** Milliseconds of work since the start, without the time spent waiting for disk space. */
  workedMs(): number;
  stop(): void;
}

/** Enforces the time limit of one attempt to ingest a record. */
function startDeadline({ milliseconds, space = unlimitedSpace, signal, onPassed }: DeadlineOptions): WorkDeadline {
  const startedAt = performance.now();
  let waitedMs = 0;
  let waitingSince: number | null = null;
  let timer = setTimeout(onPassed, milliseconds);
  let stopped = false;
  let waiting: Promise<void> | null = null;
  const workedMs = () => (waitingSince ?? performance.now()) - startedAt - waitedMs;

  async function waitForSpace(): Promise<void> {
    clearTimeout(timer);
    const since = performance.now();
    waitingSince = since;
    try {
      await space.untilFreeSpace(signal);
    } finally {
      waitedMs += performance.now() - since;
      waitingSince = null;
      waiting = null;
    }
    if (!stopped) timer = setTimeout(onPassed, Math.max(0, milliseconds - workedMs()));
  }

  return {
    async untilFreeSpace() {
      if (await space.hasFreeSpace()) return;
      waiting ??= waitForSpace();
      await waiting;
    },
    workedMs,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

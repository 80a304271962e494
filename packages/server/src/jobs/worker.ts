import type { Clock } from '../kernel/clock.ts';
import { startPeriodicTask } from '../kernel/concurrency/periodic-task.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { isTemporary } from '../kernel/problem.ts';
import { startHeartbeat } from './heartbeat.ts';
import { type Job, type Lease, LeaseLost, WorkerStopping } from './job.ts';
import { retryUntilStored } from './retry-policy.ts';

/** What a handler may use of the worker. */
export interface JobControl {
  /** Aborted when the work is void; its reason is passed to `settle`. */
  readonly signal: AbortSignal;
  /** Aborts the work for a reason of the handler, such as a deadline. */
  readonly stop: (reason: Error) => void;
  /** Renews the lease soon, with what `renew` then stores of the progress. */
  readonly beatSoon: () => void;
}

/** The work on one claimed job. */
export interface JobHandler {
  /** Does the job and stores its end. */
  perform(): Promise<void>;
  /**
   * Requeues or fails the job after `perform` rejected. Repeated while the database is not available.
   * @param reason of the signal if that was aborted, else the error
   */
  settle(reason: unknown): Promise<void>;
  /** Prolongs the lease. @returns false when it is lost. Absent: the work itself prolongs it. */
  renew?(leaseUntil: number): Promise<boolean>;
  /** Called after `perform` and `settle`. */
  close?(): void;
}

export interface WorkerOptions<Claimed extends Job> {
  /** Of the jobs, in the log. */
  readonly name: string;
  /** Jobs at the same time. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** Milliseconds between searches for jobs that nobody told about. */
  readonly pollMs: number;
  /** Asked before each claim. */
  readonly mayClaim?: () => Promise<boolean>;
  /** @returns undefined when no job is due */
  readonly claim: (lease: Lease, running: readonly Claimed[]) => Promise<Claimed | undefined>;
  readonly handle: (job: Claimed, control: JobControl) => JobHandler;
  readonly onClaimed?: (job: Claimed) => void;
  readonly onRenewed?: (job: Claimed) => void;
  readonly onEnded?: (job: Claimed) => void;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

export interface Worker {
  /** Searches for jobs now. */
  wake(): void;
  /** Renews the lease of the job, if it runs here: it may be lost. */
  recheck(id: string): void;
  /** Claims nothing more, stops what runs, and waits until it is requeued. */
  close(): Promise<void>;
}

interface Running<Claimed> {
  readonly job: Claimed;
  readonly beat: () => void;
  readonly stop: (reason: Error) => void;
  readonly done: Promise<void>;
}

/** Claims jobs and works on them, some at a time, until closed. Searches when woken and once in a while by itself. */
export function openWorker<Claimed extends Job>(options: WorkerOptions<Claimed>): Worker {
  const { name, clock, leaseMs, pollMs, logger } = options;
  const running = new Map<string, Running<Claimed>>();
  const closing = new AbortController();
  let unsettled = 0;

  async function claimAll(): Promise<void> {
    // The lease of a job whose end is not stored may have run out, although this worker still holds it.
    while (unsettled === 0 && running.size < options.concurrency && !closing.signal.aborted) {
      if ((await options.mayClaim?.()) === false) return;
      const now = clock.now();
      const lease = { token: options.newId('run'), now, leaseUntil: now + leaseMs };
      const job = await options.claim(
        lease,
        [...running.values()].map((one) => one.job),
      );
      if (job === undefined) return;
      options.onClaimed?.(job);
      running.set(job.token, start(job));
    }
  }

  function start(job: Claimed): Running<Claimed> {
    const controller = new AbortController();
    const { signal } = controller;
    const stop = (reason: Error) => controller.abort(reason);
    const handler = options.handle(job, { signal, stop, beatSoon: () => heartbeat?.beatSoon() });
    const heartbeat = handler.renew && startHeartbeat({ leaseMs, renew, onLost, onError: onRenewalFailed });

    async function renew(): Promise<boolean> {
      const isHeld = await handler.renew?.(clock.now() + leaseMs);
      if (isHeld === true) options.onRenewed?.(job);
      return isHeld === true;
    }
    function onLost(): void {
      stop(new LeaseLost());
    }
    function onRenewalFailed(error: unknown): void {
      logger.warn({ err: error, job_id: job.id, jobs: name }, 'lease not renewed');
    }

    async function perform(): Promise<void> {
      try {
        await handler.perform();
      } catch (error) {
        await settle(job, handler, signal.aborted ? signal.reason : error);
      } finally {
        handler.close?.();
        await heartbeat?.close();
      }
    }

    const done = perform()
      .catch((error: unknown) => logger.error({ err: error, job_id: job.id, jobs: name }, 'job not requeued'))
      .finally(() => {
        running.delete(job.token);
        options.onEnded?.(job);
        search.trigger();
      });
    if (closing.signal.aborted) stop(new WorkerStopping());
    return { job, beat: () => heartbeat?.beat(), stop, done };
  }

  async function settle(job: Claimed, handler: JobHandler, reason: unknown): Promise<void> {
    if (reason instanceof LeaseLost) return;
    unsettled += 1;
    try {
      await retryUntilStored(() => handler.settle(reason), {
        policy: { firstMs: pollMs, longestMs: pollMs },
        signal: closing.signal,
        isRetryable: isTemporary,
        onRetry: (error) => logger.warn({ err: error, job_id: job.id, jobs: name }, 'job not requeued: retrying'),
      });
    } finally {
      unsettled -= 1;
    }
  }

  // Repeats by itself because other processes and expired leases trigger nothing here.
  const search = startPeriodicTask({ name, pause: pollMs, run: claimAll }, (error) =>
    logger.error({ err: error, jobs: name }, 'search for jobs failed'),
  );

  return {
    wake: search.trigger,
    recheck(id) {
      for (const one of running.values()) if (one.job.id === id) one.beat();
    },
    async close() {
      closing.abort();
      await search.close();
      for (const one of running.values()) one.stop(new WorkerStopping());
      await Promise.all([...running.values()].map((one) => one.done));
    },
  };
}

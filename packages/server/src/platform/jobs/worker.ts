import type { Clock } from '../clock.ts';
import { startLoggedTask } from '../concurrency/periodic-task.ts';
import type { NewId } from '../identifier.ts';
import type { Logger } from '../log/logger.ts';
import { isTemporary } from '../problem.ts';
import { startHeartbeat } from './heartbeat.ts';
import { type Job, type Lease, LeaseLost, WorkerStopping } from './job.ts';
import { retryUntilStored } from './retry-until-stored.ts';

/** The functions and signals that the worker provides to a handler. */
export interface JobControl {
  /** Aborted when the work must stop. Its reason is passed to `settle`. */
  readonly signal: AbortSignal;
  /** Aborts the work for a reason of the handler, for example a deadline. */
  readonly stop: (reason: Error) => void;
  /** Renews the lease soon. The `renew` function stores the progress at that time. */
  readonly renewSoon: () => void;
}

/** The work on one claimed job. */
export interface JobHandler {
  /** Performs the job and stores its result. */
  perform(): Promise<void>;
  /**
   * Requeues or fails the job after `perform` rejected. Retries while the database is not available.
   * @param reason that of the signal if it was aborted, otherwise the error
   */
  settle(reason: unknown): Promise<void>;
  /** Extends the lease. @returns false when it is lost. Default: `perform` extends the lease itself. */
  renew?(leaseUntil: number): Promise<boolean>;
  /** Called after `perform` and `settle`. */
  close?(): void;
}

export interface WorkerOptions<Claimed extends Job> {
  /** The name of the jobs in the log. */
  readonly name: string;
  /** The maximum number of concurrent jobs. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** The interval between searches for jobs, in milliseconds. It finds jobs that triggered no notification. */
  readonly pollMs: number;
  /** Called before each claim. A result of false prevents the claim. */
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
  /** Renews the lease of the job if it runs here, because the lease may be lost. */
  recheck(id: string): void;
  /** Stops claiming, aborts running jobs, and waits until they are requeued. */
  close(): Promise<void>;
}

interface Running<Claimed> {
  readonly job: Claimed;
  readonly renewNow: () => void;
  readonly stop: (reason: Error) => void;
  readonly done: Promise<void>;
}

/** Claims jobs and performs them concurrently until closed. It searches when woken, and at intervals. */
export function openWorker<Claimed extends Job>(options: WorkerOptions<Claimed>): Worker {
  const { name, clock, leaseMs, pollMs, logger } = options;
  const running = new Map<string, Running<Claimed>>();
  const closing = new AbortController();
  let unsettled = 0;
  /** No job waited after the last claim, so the end of a job makes room for none. */
  let isDrained = false;

  async function claimAll(): Promise<void> {
    isDrained = false;
    // The lease of an unsettled job may have expired, although this worker still holds the job.
    while (!isDrained && unsettled === 0 && running.size < options.concurrency && !closing.signal.aborted) {
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
      isDrained = job.isLast === true;
    }
  }

  function start(job: Claimed): Running<Claimed> {
    const controller = new AbortController();
    const { signal } = controller;
    const stop = (reason: Error) => controller.abort(reason);
    const handler = options.handle(job, { signal, stop, renewSoon: () => heartbeat?.renewSoon() });
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
        if (!isDrained) search.trigger();
      });
    if (closing.signal.aborted) stop(new WorkerStopping());
    return { job, renewNow: () => heartbeat?.renewNow(), stop, done };
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

  // The search repeats at intervals because other processes and expired leases trigger nothing here.
  const search = startLoggedTask({ name, pause: pollMs, run: claimAll }, logger);

  return {
    wake: search.trigger,
    recheck(id) {
      for (const one of running.values()) if (one.job.id === id) one.renewNow();
    },
    async close() {
      closing.abort();
      await search.close();
      for (const one of running.values()) one.stop(new WorkerStopping());
      await Promise.all([...running.values()].map((one) => one.done));
    },
  };
}

import { createCircuitBreaker } from './circuit-breaker.ts';
import type { Assignment } from './host.ts';
import { createKeyShares } from './key-shares.ts';
import { createRunDurations } from './pipelining.ts';
import { createRunQueue } from './run-queue.ts';
import type { SandboxOutcome } from './sandbox.ts';
import type { SlotHolder } from './slots.ts';
import type { PendingRun, Worker } from './worker.ts';
import type { WorkerSetOptions } from './worker-set.ts';
import { createWorkerSet } from './worker-set.ts';

/**
 * The worker processes of one bundle for one project, and the runs that wait for them (ADR 0024).
 *
 * A run is *assigned* to an idle worker, or pipelined behind a quick run of a busy worker; otherwise it is *queued*. The worker
 * *executes* the run, which ends with an outcome. The keys of the project take turns, and one more process is kept for a key that runs
 * nothing in the pool. A run is *requeued* before all others when its worker exits or returns it before
 * the run has begun.
 */
export interface Pool extends SlotHolder {
  /** Never rejects. */
  run(assignment: Assignment): Promise<SandboxOutcome>;
  /** Cancels every run. Resolves when every process is gone. */
  close(): Promise<void>;
}

export interface PoolOptions extends Pick<WorkerSetOptions, 'clock' | 'onCrash' | 'owner' | 'slots' | 'startHost'> {
  readonly maxChildren: number;
  readonly queueLength: number;
  readonly recycleAfterRuns: number;
  readonly memoryMb: number;
  /** The least milliseconds that a run may wait, even if its own limit is shorter. A busy machine starts processes slowly. */
  readonly leastWaitMs: number;
}

export function createPool(options: PoolOptions): Pool {
  const { owner, slots, clock, maxChildren } = options;
  const shares = createKeyShares(owner, slots, maxChildren);
  const breaker = createCircuitBreaker(clock);
  const durations = createRunDurations();
  const queueFull = (): SandboxOutcome => fullQueue((queue.length() + 1) * (durations.typicalMs() / maxChildren));
  const queue = createRunQueue<Worker>({ ...options, waiting: slots.waiting, holds: slots.held, full: queueFull });
  const workers = createWorkerSet({
    ...options,
    isQuick: durations.isQuick,
    onAvailable,
    onStartFailed: () => {
      breaker.recordCrash();
      refuseQueuedRuns();
    },
    onExit: startWorkers,
  });
  let closed = false;

  async function run(assignment: Assignment): Promise<SandboxOutcome> {
    const pending: PendingRun = { assignment, isRequeued: false, blocksPipeline: true };
    for (;;) {
      if (closed || assignment.signal.aborted) return { kind: 'cancelled' };
      const worker = breaker.refusal() ?? assign(pending) ?? (await enqueue(pending));
      if ('kind' in worker) return worker;
      const outcome = await execute(worker, pending);
      if (outcome !== null) return outcome;
      pending.isRequeued = true;
    }
  }

  /** A run is assigned only while the queue is empty, so that it cannot overtake queued runs. */
  function assign(pending: PendingRun): Worker | undefined {
    return queue.length() === 0 ? workers.assign(pending, (worker) => shares.assign(worker, pending)) : undefined;
  }

  function onAvailable(worker: Worker): void {
    while (queue.offer(worker));
    growPool();
  }

  async function enqueue(pending: PendingRun): Promise<Worker | SandboxOutcome> {
    const { task } = pending.assignment;
    const limitMs = Math.max(options.leastWaitMs, task.limits.timeoutMs);
    const since = performance.now();
    const accepted = queue.enqueue({ ...shares.entryOf(pending), limitMs });
    startWorkers();
    const dequeued = await accepted;
    if (dequeued.kind !== 'accepted') return dequeued;
    if (task.timings !== undefined) task.timings.startMs += dequeued.value.startupMsSince(since);
    return dequeued.value;
  }

  /** @returns null when the worker has not begun the run and will not */
  async function execute(worker: Worker, pending: PendingRun): Promise<SandboxOutcome | null> {
    const since = performance.now();
    const ended = await worker.execute(pending);
    shares.release(worker, pending, ended);
    if (ended.outcome !== null) {
      durations.record(pending.assignment.handlerUrl, ended.ms ?? performance.now() - since);
      breaker.record(ended.outcome);
      refuseQueuedRuns();
      if (!isLeaving(worker) && (worker.isWornOut() || slots.mustYield(owner))) worker.drain();
    }
    workers.offer(worker);
    return ended.outcome;
  }

  /** Ends all queued runs while the circuit is open. */
  function refuseQueuedRuns(): void {
    const refusal = breaker.refusal();
    if (refusal !== undefined) queue.drain(refusal);
  }

  function startWorkers(): void {
    workers.offerIdle();
    growPool();
  }

  function growPool(): void {
    while (!closed && shares.mayStart(workers, queue) && slots.take(owner, queue.nextOwner())) workers.start();
  }

  return {
    owner,
    run,
    startWorkers,
    starvingSince: () => (workers.size() === 0 ? queue.oldestSince() : undefined),
    idleSince: workers.idleSince,
    stopLongestIdle: workers.stopLongestIdle,
    counts: () => ({ children: workers.size(), waiting: queue.length(), since: queue.oldestSince() }),
    close: async () => {
      closed = true;
      queue.drain({ kind: 'cancelled' });
      await workers.stopAll();
    },
  };
}

function isLeaving(worker: Worker): boolean {
  return worker.state() === 'draining' || worker.state() === 'stopping';
}

function fullQueue(waitMs: number): SandboxOutcome {
  return { kind: 'queue_full', retryAfterSeconds: Math.min(60, Math.max(1, Math.ceil(waitMs / 1000))) };
}

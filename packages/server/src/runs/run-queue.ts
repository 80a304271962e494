import { createFairQueue } from '../kernel/concurrency/fair-queue.ts';
import type { AsyncRun } from './async-run.ts';
import { tooManyAsyncRuns, tooManyAsyncRunsOfKey } from './problems.ts';

export interface QueueBounds {
  /** The maximum number of runs that execute at the same time. */
  readonly maxRunning: number;
  /** The maximum number of runs that execute or wait. */
  readonly maxAccepted: number;
  /** The same limit for one key. */
  readonly maxAcceptedOfKey: number;
  /** The maximum number of characters of all requests together. */
  readonly maxSize: number;
}

/** The runs that this process has accepted, executing or waiting, within bounds. */
export interface RunQueue {
  readonly all: ReadonlyMap<string, AsyncRun>;
  /** The number of further runs that the queue can accept. */
  remaining(): number;
  /** Reserves a place for a run without starting it. Throws TOO_MANY_REQUESTS. */
  reserve(run: AsyncRun): void;
  /** Starts a run with a reserved place, or queues it. */
  enqueue(run: AsyncRun): void;
  /** Starts a waiting run immediately, beyond `maxRunning`. @returns false when the run does not wait */
  promote(run: AsyncRun): boolean;
  /** Releases the place of a run. */
  release(run: AsyncRun): void;
}

/** @param work never rejects */
export function createRunQueue(bounds: QueueBounds, work: (run: AsyncRun) => Promise<void>): RunQueue {
  const all = new Map<string, AsyncRun>();
  const waiting = createFairQueue<AsyncRun>(({ stored, keyId }) => ({ projectId: stored.projectId, keyId }));
  const ofKeys = new Map<string, number>();
  let running = 0;
  let size = 0;

  function count(run: AsyncRun, by: 1 | -1): void {
    size += by * run.size;
    if (run.keyId === null) return;
    const remaining = (ofKeys.get(run.keyId) ?? 0) + by;
    if (remaining === 0) ofKeys.delete(run.keyId);
    else ofKeys.set(run.keyId, remaining);
  }

  async function start(run: AsyncRun): Promise<void> {
    running += 1;
    await work(run);
    running -= 1;
    next();
  }

  function next(): void {
    while (running < bounds.maxRunning) {
      const run = waiting.next();
      if (run === undefined) return;
      void start(run);
    }
  }

  return {
    all,
    remaining: () => Math.max(0, bounds.maxAccepted - all.size),
    reserve: (run) => {
      if (all.size >= bounds.maxAccepted || size + run.size > bounds.maxSize) throw tooManyAsyncRuns();
      const { keyId } = run;
      const ofKey = keyId === null ? 0 : (ofKeys.get(keyId) ?? 0);
      if (ofKey >= bounds.maxAcceptedOfKey) throw tooManyAsyncRunsOfKey(bounds.maxAcceptedOfKey);
      all.set(run.stored.id, run);
      count(run, 1);
    },
    enqueue: (run) => {
      waiting.add(run);
      next();
    },
    promote: (run) => {
      if (!waiting.remove(run)) return false;
      void start(run);
      return true;
    },
    release: (run) => {
      if (all.delete(run.stored.id)) count(run, -1);
    },
  };
}

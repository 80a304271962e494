import { createFairQueue } from '../kernel/concurrency/fair-queue.ts';
import type { BackgroundRun } from './background-run.ts';
import { tooManyBackgroundRuns, tooManyRunsOfKey } from './problems.ts';

export interface QueueBounds {
  /** Runs at the same time; the others wait. */
  readonly maxRunning: number;
  /** Running and waiting. */
  readonly maxAccepted: number;
  /** … of one key. */
  readonly maxAcceptedOfKey: number;
  /** Characters of requests, all together. */
  readonly maxSize: number;
}

/** The runs that this process has accepted: which run, which wait, how many there may be. */
export interface BackgroundQueue {
  readonly all: ReadonlyMap<string, BackgroundRun>;
  /** How many more may be taken from others. */
  room(): number;
  /** Holds the place of a run. Throws TOO_MANY_REQUESTS. */
  enter(run: BackgroundRun): void;
  /** It may run when its turn comes. */
  line(run: BackgroundRun): void;
  /** Its turn is now. @returns false when it does not wait */
  hurry(run: BackgroundRun): boolean;
  leave(run: BackgroundRun): void;
}

/** @param work never rejects */
export function createBackgroundQueue(
  bounds: QueueBounds,
  work: (run: BackgroundRun) => Promise<void>,
): BackgroundQueue {
  const all = new Map<string, BackgroundRun>();
  const waiting = createFairQueue<BackgroundRun>(({ stored, keyId }) => ({ projectId: stored.projectId, keyId }));
  const ofKeys = new Map<string, number>();
  let running = 0;
  let size = 0;

  function count(run: BackgroundRun, by: 1 | -1): void {
    size += by * run.size;
    if (run.keyId === null) return;
    const left = (ofKeys.get(run.keyId) ?? 0) + by;
    if (left === 0) ofKeys.delete(run.keyId);
    else ofKeys.set(run.keyId, left);
  }

  async function start(run: BackgroundRun): Promise<void> {
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
    room: () => Math.max(0, bounds.maxAccepted - all.size),
    enter: (run) => {
      if (all.size >= bounds.maxAccepted || size + run.size > bounds.maxSize) throw tooManyBackgroundRuns();
      const { keyId } = run;
      const ofKey = keyId === null ? 0 : (ofKeys.get(keyId) ?? 0);
      if (ofKey >= bounds.maxAcceptedOfKey) throw tooManyRunsOfKey(bounds.maxAcceptedOfKey);
      all.set(run.stored.id, run);
      count(run, 1);
    },
    line: (run) => {
      waiting.add(run);
      next();
    },
    hurry: (run) => {
      if (!waiting.remove(run)) return false;
      void start(run);
      return true;
    },
    leave: (run) => {
      if (all.delete(run.stored.id)) count(run, -1);
    },
  };
}

/** Limits how many tasks run at the same time. The others wait in the order in which they came. */
export interface Semaphore {
  /**
   * Resolves with true when a permit is acquired, which must be released; with false when the signal aborts first.
   * @throws what `refuse` creates when too many wait already.
   */
  acquire(signal?: AbortSignal): Promise<boolean>;
  release(): void;
  /** Acquires a permit, runs the task and releases the permit. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

export interface SemaphoreOptions {
  /** Tasks at the same time. */
  readonly permits: number;
  /** Bounds the queue; without it any number may wait. */
  readonly queue?: { readonly length: number; readonly refuse: () => Error };
}

export function createSemaphore({ permits, queue }: SemaphoreOptions): Semaphore {
  const waiting = new Set<() => void>();
  let held = 0;

  async function acquire(signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return false;
    if (held < permits) {
      held += 1;
      return true;
    }
    if (queue !== undefined && waiting.size >= queue.length) throw queue.refuse();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const grant = () => resolve(true);
    const cancel = () => {
      if (waiting.delete(grant)) resolve(false);
    };
    waiting.add(grant);
    signal?.addEventListener('abort', cancel, { once: true });
    const isAcquired = await promise;
    signal?.removeEventListener('abort', cancel);
    return isAcquired;
  }

  /** The permit goes to the first in the queue, or back. */
  function release(): void {
    const [next] = waiting;
    if (next === undefined) {
      held -= 1;
    } else {
      waiting.delete(next);
      next();
    }
  }

  return {
    acquire,
    release,
    async run(task) {
      await acquire();
      try {
        return await task();
      } finally {
        release();
      }
    },
  };
}

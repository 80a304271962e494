/** Limits how many tasks run at the same time. Others wait, first in, first out. */
export interface Semaphore {
  /**
   * Acquires a permit, which the caller must release. Resolves with true, or with false when the signal aborts first.
   * @throws the error of `refuse` when the queue is full
   */
  acquire(signal?: AbortSignal): Promise<boolean>;
  release(): void;
  /** Acquires a permit, runs the task and releases the permit. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

export interface SemaphoreOptions {
  /** The number of concurrent tasks. */
  readonly permits: number;
  /** Bounds the queue. Without it any number of tasks may wait. */
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

  /** Passes the permit to the first waiting task, or frees it. */
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

import { createFairQueue, type Owner } from './fair-queue.ts';

/** Limits how many tasks run at the same time. The others wait, and are started in turn among projects and their keys. */
export interface FairSemaphore {
  /** @returns null when the signal aborts before the task starts, or when too many tasks wait */
  run<T>(owner: Owner, signal: AbortSignal, task: () => Promise<T>): Promise<T | null>;
}

export interface FairSemaphoreOptions {
  /** The number of concurrent tasks. Default: 1. */
  readonly permits?: number;
  /** The number of tasks that may wait. Default: unlimited. */
  readonly mostWaiting?: number;
}

export function createFairSemaphore(options: FairSemaphoreOptions = {}): FairSemaphore {
  const { permits = 1, mostWaiting = Number.POSITIVE_INFINITY } = options;
  const waiting = createFairQueue<Owner & { readonly resolve: (isTurn: boolean) => void }>((turn) => turn);
  let count = 0;
  let running = 0;

  async function waitForTurn({ projectId, keyId }: Owner, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (running < permits) {
      running += 1;
      return true;
    }
    if (count >= mostWaiting) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const turn = { projectId, keyId, resolve };
    const leave = () => waiting.remove(turn) && resolve(false);
    waiting.add(turn);
    count += 1;
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await promise;
    } finally {
      count -= 1;
      signal.removeEventListener('abort', leave);
    }
  }

  return {
    async run(owner, signal, task) {
      if (!(await waitForTurn(owner, signal))) return null;
      try {
        return await task();
      } finally {
        const next = waiting.next();
        if (next === undefined) running -= 1;
        else next.resolve(true);
      }
    },
  };
}

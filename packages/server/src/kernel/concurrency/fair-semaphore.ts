import { createFairQueue, type Owner } from './fair-queue.ts';

/** Runs one task at a time. Waiting tasks are scheduled fairly among projects and keys. */
export interface FairSemaphore {
  /** @returns null when the signal aborts before the task starts, or when too many tasks wait */
  run<T>(owner: Owner, signal: AbortSignal, task: () => Promise<T>): Promise<T | null>;
}

/** @param mostWaiting the number of tasks that may wait. Default: unlimited */
export function createFairSemaphore(mostWaiting = Number.POSITIVE_INFINITY): FairSemaphore {
  const waiting = createFairQueue<Owner & { readonly resolve: (isTurn: boolean) => void }>((turn) => turn);
  let count = 0;
  let isBusy = false;

  async function waitForTurn({ projectId, keyId }: Owner, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (!isBusy) {
      isBusy = true;
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
        isBusy = next !== undefined;
        next?.resolve(true);
      }
    },
  };
}

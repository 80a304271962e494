import { createFairOrder } from '../../../platform/admission/admission-queue.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { Shares } from '../../../platform/admission/share-counts.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { SandboxOutcome } from './sandbox.ts';
import type { WaitingRun, WaitingRuns } from './waiting-runs.ts';

/** The runs of a pool that wait for a `T`, each for a limited time. The keys of the project take turns. */
export interface RunQueue<T> {
  length(): number;
  /** When the entry that waits longest was enqueued, in milliseconds since 1970. */
  oldestSince(): number | undefined;
  /** The owner of the next entry. */
  nextOwner(): Owner | undefined;
  /** Resolves with the value that the entry accepted, or with the outcome that ended its wait. Never rejects. */
  enqueue(entry: QueueEntry<T>): Promise<Dequeued<T>>;
  /** Offers a value to the next entry. False: the queue is empty, or the entry refused. */
  offer(value: T): boolean;
  /** Ends the wait of every entry with this outcome. */
  drain(outcome: SandboxOutcome): void;
}

export interface QueueEntry<T> {
  readonly owner: Owner;
  readonly signal: AbortSignal;
  /** Milliseconds after which the wait ends as if the queue were full. */
  readonly limitMs: number;
  /**
   * Whether the run was in the queue before. Requeued runs come before other runs of keys with the same number of running
   * runs, and are never refused.
   */
  readonly isRequeued: boolean;
  /** Takes the value, or refuses it. */
  readonly accept: (value: T) => boolean;
}

export type Dequeued<T> = { readonly kind: 'accepted'; readonly value: T } | SandboxOutcome;

interface Waiter<T> extends WaitingRun {
  readonly since: number;
  readonly accept: (value: T) => boolean;
  readonly leave: (result: Dequeued<T>) => void;
}

export interface RunQueueOptions {
  readonly clock: Clock;
  /** The number of runs that may wait. Above it, the newest run of the key with the most waiting runs is refused. */
  readonly queueLength: number;
  /** The waiting runs of all pools, which have a limit in total. */
  readonly waiting: WaitingRuns;
  /** Returns the number of runs that a key has in progress. */
  readonly holds: (owner: Owner) => Shares;
  /** Returns the outcome of a run that is refused or whose time to wait is over. */
  readonly full: () => SandboxOutcome;
}

export function createRunQueue<T>({ clock, queueLength, waiting, holds, full }: RunQueueOptions): RunQueue<T> {
  const order = createFairOrder<Waiter<T>>((waiter) => waiter);
  const requeued = createFairOrder<Waiter<T>>((waiter) => waiter);

  function next(): Waiter<T> | undefined {
    const [again, first] = [requeued.peek(holds), order.peek(holds)];
    if (again === undefined || first === undefined) return again ?? first;
    return holds(first).key < holds(again).key ? first : again;
  }

  function add(waiter: Waiter<T>, isRequeued: boolean): void {
    (isRequeued ? requeued : order).add(waiter);
    if (isRequeued) return;
    waiting.add(waiter);
    if (order.size() > queueLength) order.newestOfLargest(waiter, () => true)?.refuse();
    else waiting.refuseExcess(waiter);
  }

  return {
    length: () => requeued.size() + order.size(),
    oldestSince: () => {
      let oldest: number | undefined;
      for (const waiters of [requeued, order]) {
        for (const { since } of waiters.values()) oldest = Math.min(oldest ?? since, since);
      }
      return oldest;
    },
    nextOwner: next,
    enqueue: ({ owner: { projectId, keyId }, signal, limitMs, isRequeued, accept }) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => waiter.leave(full()), limitMs);
        const cancel = (): void => waiter.leave({ kind: 'cancelled' });
        const waiter: Waiter<T> = {
          projectId,
          keyId,
          accept,
          since: clock.now(),
          refuse: () => {
            waiting.countRefused();
            waiter.leave(full());
          },
          leave: (result) => {
            if (!requeued.remove(waiter) && order.remove(waiter)) waiting.remove(waiter);
            clearTimeout(timer);
            signal.removeEventListener('abort', cancel);
            resolve(result);
          },
        };
        signal.addEventListener('abort', cancel);
        add(waiter, isRequeued);
      }),
    offer: (value) => {
      const waiter = next();
      if (waiter === undefined || !waiter.accept(value)) return false;
      if (order.take(waiter)) waiting.remove(waiter);
      waiter.leave({ kind: 'accepted', value });
      return true;
    },
    drain: (outcome) => {
      for (const waiter of [...requeued.values(), ...order.values()]) waiter.leave(outcome);
    },
  };
}

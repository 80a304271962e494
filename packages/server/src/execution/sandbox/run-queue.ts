import type { Clock } from '../../kernel/clock.ts';
import type { SandboxOutcome } from './sandbox.ts';

/** A first-in, first-out queue of runs that wait for a `T`, each for a limited time. */
export interface RunQueue<T> {
  length(): number;
  /** When the first entry was enqueued, in milliseconds since 1970. */
  oldestSince(): number | undefined;
  /** Resolves with the value that the entry accepted, or with the outcome that ended its wait. Never rejects. */
  enqueue(entry: QueueEntry<T>): Promise<Dequeued<T>>;
  /** Offers a value to the first entry. False: the queue is empty, or the entry refused. */
  offer(value: T): boolean;
  /** Ends the wait of every entry with this outcome. */
  drain(outcome: SandboxOutcome): void;
}

export interface QueueEntry<T> {
  readonly signal: AbortSignal;
  /** Milliseconds after which the wait ends as if the queue were full. */
  readonly limitMs: number;
  /** Whether the run was in the queue before. Requeued runs come before all others. */
  readonly isRequeued: boolean;
  /** Takes the value, or refuses it. */
  readonly accept: (value: T) => boolean;
}

export type Dequeued<T> = { readonly kind: 'accepted'; readonly value: T } | SandboxOutcome;

interface Waiter<T> {
  readonly since: number;
  readonly accept: (value: T) => boolean;
  readonly leave: (result: Dequeued<T>) => void;
}

/** @param full returns the outcome of a run whose time to wait is over */
export function createRunQueue<T>(clock: Clock, full: () => SandboxOutcome): RunQueue<T> {
  const requeued = new Set<Waiter<T>>();
  const waiters = new Set<Waiter<T>>();

  function first(): Waiter<T> | undefined {
    return requeued.values().next().value ?? waiters.values().next().value;
  }

  return {
    length: () => requeued.size + waiters.size,
    oldestSince: () => first()?.since,
    enqueue: ({ signal, limitMs, isRequeued, accept }) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => waiter.leave(full()), limitMs);
        const cancel = (): void => waiter.leave({ kind: 'cancelled' });
        const waiter: Waiter<T> = {
          since: clock.now(),
          accept,
          leave: (result) => {
            requeued.delete(waiter);
            waiters.delete(waiter);
            clearTimeout(timer);
            signal.removeEventListener('abort', cancel);
            resolve(result);
          },
        };
        signal.addEventListener('abort', cancel);
        (isRequeued ? requeued : waiters).add(waiter);
      }),
    offer: (value) => {
      const waiter = first();
      if (waiter === undefined || !waiter.accept(value)) return false;
      waiter.leave({ kind: 'accepted', value });
      return true;
    },
    drain: (outcome) => {
      for (const waiter of [...requeued, ...waiters]) waiter.leave(outcome);
    },
  };
}

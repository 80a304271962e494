import type { Clock } from '../../kernel/clock.ts';
import type { SandboxOutcome } from './sandbox.ts';

/** Who waits for a `T`: first come, first served, each for a bounded time. */
export interface WaitingLine<T> {
  length(): number;
  /** Since when the first one waits. */
  since(): number | undefined;
  join(guest: Guest<T>): Promise<Turn<T>>;
  /** False when nobody waits, or the first one does not take it. */
  serve(value: T): boolean;
  /** Sends everybody away with this. */
  dissolve(outcome: SandboxOutcome): void;
}

export interface Guest<T> {
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** It has waited before: it stands before all others. */
  readonly isFirst: boolean;
  /** Takes the value, or leaves it. */
  readonly take: (value: T) => boolean;
}

export type Turn<T> = { readonly kind: 'turn'; readonly value: T } | SandboxOutcome;

interface Place<T> {
  readonly since: number;
  readonly take: (value: T) => boolean;
  readonly leave: (turn: Turn<T>) => void;
}

export function createWaitingLine<T>(clock: Clock, full: () => SandboxOutcome): WaitingLine<T> {
  /** Those who have waited before, then the others. */
  const [again, places] = [new Set<Place<T>>(), new Set<Place<T>>()];

  function first(): Place<T> | undefined {
    return again.values().next().value ?? places.values().next().value;
  }

  return {
    length: () => again.size + places.size,
    since: () => first()?.since,
    join: ({ signal, limitMs, isFirst, take }) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => place.leave(full()), limitMs);
        const cancel = (): void => place.leave({ kind: 'cancelled' });
        const place: Place<T> = {
          since: clock.now(),
          take,
          leave: (turn) => {
            again.delete(place);
            places.delete(place);
            clearTimeout(timer);
            signal.removeEventListener('abort', cancel);
            resolve(turn);
          },
        };
        signal.addEventListener('abort', cancel);
        (isFirst ? again : places).add(place);
      }),
    serve: (value) => {
      const place = first();
      if (place === undefined || !place.take(value)) return false;
      place.leave({ kind: 'turn', value });
      return true;
    },
    dissolve: (outcome) => {
      for (const place of [...again, ...places]) place.leave(outcome);
    },
  };
}

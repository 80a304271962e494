import type { Clock } from '../../kernel/clock.ts';
import type { SandboxOutcome } from './sandbox.ts';

/** Who waits for a `T`: first come, first served, each for a bounded time. */
export interface WaitingLine<T> {
  length(): number;
  /** Since when the first one waits. */
  since(): number | undefined;
  join(place: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<Turn<T>>;
  /** False when nobody waits. */
  serve(value: T): boolean;
  /** Sends everybody away with this. */
  dissolve(outcome: SandboxOutcome): void;
}

export type Turn<T> = { readonly kind: 'turn'; readonly value: T } | SandboxOutcome;

interface Place<T> {
  readonly since: number;
  readonly leave: (turn: Turn<T>) => void;
}

export function createWaitingLine<T>(clock: Clock, full: () => SandboxOutcome): WaitingLine<T> {
  const places = new Set<Place<T>>();

  function first(): Place<T> | undefined {
    return places.values().next().value;
  }

  return {
    length: () => places.size,
    since: () => first()?.since,
    join: ({ signal, limitMs }) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => place.leave(full()), limitMs);
        const cancel = (): void => place.leave({ kind: 'cancelled' });
        const place: Place<T> = {
          since: clock.now(),
          leave: (turn) => {
            places.delete(place);
            clearTimeout(timer);
            signal.removeEventListener('abort', cancel);
            resolve(turn);
          },
        };
        signal.addEventListener('abort', cancel);
        places.add(place);
      }),
    serve: (value) => {
      const place = first();
      place?.leave({ kind: 'turn', value });
      return place !== undefined;
    },
    dissolve: (outcome) => {
      for (const place of places) place.leave(outcome);
    },
  };
}

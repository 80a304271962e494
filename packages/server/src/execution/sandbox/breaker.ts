import type { Clock } from '../../kernel/clock.ts';

/** Pauses a bundle whose processes crash one after the other, each time for twice as long. */
export interface Breaker {
  crashed(): void;
  /** Anything but a crash: the count starts anew. */
  worked(): void;
  /** Milliseconds since 1970 when the bundle may run again; undefined: now. */
  pausedUntil(): number | undefined;
  /** Crashes in a row. */
  crashes(): number;
}

const crashesAllowed = 5;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export function createBreaker(clock: Clock): Breaker {
  let crashes = 0;
  let until = 0;
  return {
    crashed: () => {
      crashes += 1;
      // What crashed beside the crash that caused the pause does not lengthen it.
      if (crashes < crashesAllowed || clock.now() < until) return;
      until = clock.now() + Math.min(longestPauseMs, firstPauseMs * 2 ** (crashes - crashesAllowed));
    },
    worked: () => {
      crashes = 0;
      until = 0;
    },
    pausedUntil: () => (clock.now() < until ? until : undefined),
    crashes: () => crashes,
  };
}

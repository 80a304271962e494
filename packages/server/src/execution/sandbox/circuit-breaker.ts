import type { Clock } from '../../kernel/clock.ts';
import type { SandboxOutcome } from './sandbox.ts';

/** Refuses the runs of a bundle whose processes crash one after the other, each time for twice as long. */
export interface CircuitBreaker {
  /** Counts how a run ended. Anything but a crash or a cancellation closes the circuit. */
  record(outcome: SandboxOutcome): void;
  /** Counts a process that could not be started. */
  recordCrash(): void;
  /** The outcome of every run while the circuit is open; undefined while it is closed. */
  refusal(): SandboxOutcome | undefined;
}

const crashesAllowed = 5;
const firstOpenMs = 1_000;
const longestOpenMs = 60_000;

export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  let crashes = 0;
  let openUntil = 0;

  function recordCrash(): void {
    crashes += 1;
    // Crashes of runs that began before the circuit opened do not prolong it.
    if (crashes < crashesAllowed || clock.now() < openUntil) return;
    openUntil = clock.now() + Math.min(longestOpenMs, firstOpenMs * 2 ** (crashes - crashesAllowed));
  }

  return {
    recordCrash,
    record: ({ kind }) => {
      if (kind === 'crashed' || kind === 'out_of_memory') return recordCrash();
      if (kind === 'cancelled') return;
      crashes = 0;
      openUntil = 0;
    },
    refusal: () => {
      if (clock.now() >= openUntil) return undefined;
      const until = new Date(openUntil).toISOString();
      return {
        kind: 'crashed',
        message: `The bundle crashed ${crashes} times in a row. Its runs are refused until ${until}.`,
      };
    },
  };
}

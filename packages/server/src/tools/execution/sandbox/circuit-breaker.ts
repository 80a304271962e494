import type { Clock } from '../../../platform/clock.ts';
import { type RetryPolicy, retryDelayMs } from '../../../platform/concurrency/retry-delay.ts';
import type { SandboxOutcome } from './sandbox.ts';

/** Refuses the runs of a bundle after several crashes in a row. Each further crash doubles the time that the circuit stays open. */
export interface CircuitBreaker {
  /** Records the outcome of a run. Every outcome except a crash or a cancellation closes the circuit. */
  record(outcome: SandboxOutcome): void;
  /** Records a process that could not be started as a crash. */
  recordCrash(): void;
  /** The outcome of every run while the circuit is open; undefined while it is closed. */
  refusal(): SandboxOutcome | undefined;
}

const crashesAllowed = 5;
const openTimes: RetryPolicy = { firstMs: 1_000, longestMs: 60_000 };

export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  let crashes = 0;
  let openUntil = 0;

  function recordCrash(): void {
    crashes += 1;
    // Crashes of runs that began before the circuit opened do not prolong it.
    if (crashes < crashesAllowed || clock.now() < openUntil) return;
    openUntil = clock.now() + retryDelayMs(openTimes, crashes - crashesAllowed + 1);
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

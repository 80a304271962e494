/** The minimum speed of a request body. */
export interface Pace {
  /** The maximum number of milliseconds without data. */
  readonly idle: number;
  /** Milliseconds before the minimum rate applies. */
  readonly grace: number;
  /** The minimum rate in bytes per second, averaged since the start. */
  readonly leastRate: number;
}

/** Measures one body. Time between `pause` and `resume` does not count. */
export interface PaceWatch {
  count(bytes: number): void;
  pause(): void;
  resume(): void;
  stop(): void;
}

/**
 * Calls `giveUp` with the reason when a body arrives too slowly. Checks at most once per second, so a body that arrives
 * as a whole needs one timer that never fires.
 */
export function watchPace(pace: Pace, giveUp: (reason: string) => void): PaceWatch {
  const start = performance.now();
  let last = start;
  let paused = 0;
  let pausedAt: number | undefined;
  let bytes = 0;

  function look(): void {
    if (pausedAt !== undefined) return;
    const now = performance.now();
    const elapsed = now - start - paused;
    if (now - last > pace.idle) {
      giveUp(`no byte came for ${pace.idle / 1000} seconds`);
    } else if (elapsed > pace.grace && bytes < (pace.leastRate * elapsed) / 1000) {
      giveUp(`it came with less than ${pace.leastRate} bytes a second`);
    }
  }
  const timer = setInterval(look, Math.max(10, Math.min(1000, pace.idle / 4)));

  return {
    count(length) {
      bytes += length;
      last = performance.now();
    },
    pause() {
      pausedAt = performance.now();
    },
    resume() {
      const now = performance.now();
      paused += now - (pausedAt ?? now);
      last = now;
      pausedAt = undefined;
    },
    stop: () => clearInterval(timer),
  };
}

/** The minimum speed of a request body. */
export interface MinimumRate {
  /** The maximum number of milliseconds without data. */
  readonly idle: number;
  /** Milliseconds before the minimum rate applies. */
  readonly grace: number;
  /** The minimum rate in bytes per second, averaged since the start. */
  readonly bytesPerSecond: number;
}

/** Measures one body. Time between `pause` and `resume` does not count. */
export interface RateWatch {
  count(bytes: number): void;
  pause(): void;
  resume(): void;
  stop(): void;
}

/**
 * Calls `giveUp` with the reason when a body arrives too slowly. Checks at most once per second, so a body that arrives
 * as a whole needs one timer that never fires.
 */
export function watchRate(rate: MinimumRate, giveUp: (reason: string) => void): RateWatch {
  const start = performance.now();
  let last = start;
  let paused = 0;
  let pausedAt: number | undefined;
  let bytes = 0;

  function look(): void {
    if (pausedAt !== undefined) return;
    const now = performance.now();
    const elapsed = now - start - paused;
    if (now - last > rate.idle) {
      giveUp(`no byte came for ${rate.idle / 1000} seconds`);
    } else if (elapsed > rate.grace && bytes < (rate.bytesPerSecond * elapsed) / 1000) {
      giveUp(`it came with less than ${rate.bytesPerSecond} bytes a second`);
    }
  }
  const timer = setInterval(look, Math.max(10, Math.min(1000, rate.idle / 4)));

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

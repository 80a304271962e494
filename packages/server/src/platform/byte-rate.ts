import { setTimeout as pause } from 'node:timers/promises';

/** The shortest pause in milliseconds. Shorter timers cost more than they bring. */
const leastPause = 20;

/** Limits the rate of a loop that reads bytes. Unused bytes do not accumulate. */
export function createByteRate(bytesPerSecond: number): (bytes: number, signal: AbortSignal) => Promise<void> {
  let dueAt = 0;
  return async (bytes, signal) => {
    const now = performance.now();
    dueAt = Math.max(dueAt, now) + (bytes / bytesPerSecond) * 1000;
    if (dueAt - now >= leastPause) await pause(dueAt - now, undefined, { signal });
  };
}

const mebibyte = 1024 ** 2;
/** Of the runtime's program, resident in a child but counted for whoever read them first: measured as 49 MiB. */
const sharedMb = 50;
/** Less, and Node does not start. */
const leastMb = 64;

/**
 * Memory that counts for a group, so that what is resident in its process ends at a tenth above the limit that the
 * watch holds it to every 50 ms.
 */
export function memoryBytes(limitMb: number): number {
  return Math.max(leastMb, Math.floor(limitMb * 1.1) - sharedMb) * mebibyte;
}

/** Threads count too: Node takes six to begin with and four more when it reads files, bubblewrap one. */
export const mostTasks = 32;

/** Microseconds of processor time in each period: one processor's worth. */
export const cpuPeriod = 100_000;
export const cpuQuota = 100_000;

const mebibyte = 1024 ** 2;
/**
 * The memory of the runtime's program. It is resident in each child, but the kernel charges it to the first reader.
 * Measured: 49 MiB.
 */
const sharedMb = 50;
/** Node.js does not start with less memory. */
const leastMb = 64;

/**
 * Returns the memory limit of a group. With it, resident memory ends at a tenth above the limit that the usage watch
 * checks every 50 ms.
 */
export function memoryBytes(limitMb: number): number {
  return Math.max(leastMb, Math.floor(limitMb * 1.1) - sharedMb) * mebibyte;
}

/**
 * The maximum number of tasks. Threads count: Node.js starts six, and four more when it reads files; bubblewrap needs
 * one.
 */
export const mostTasks = 32;

/** Microseconds of processor time in each period, which equals one processor. */
export const cpuPeriod = 100_000;
export const cpuQuota = 100_000;

import { openSync, readSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, Worker } from 'node:worker_threads';

/**
 * The service loads this module before its own code (`node --import`). A timer of the main thread records the time
 * between two ticks of the event loop. A thread answers questions about it, so that asking does not disturb the loop.
 */

/** Indexes in the shared memory. Times are milliseconds. */
export const cell = {
  /** The time at which the timer last ran. */
  lastTick: 0,
  /** The value of {@link createWaitClock} at that time. */
  waitAtLastTick: 1,
  /**
   * The longest time between two ticks, minus the interval and the time for which the thread waited for a processor.
   */
  longestDelay: 2,
  /** Processor time of the main thread between these two ticks. */
  processorOfLongest: 3,
} as const;

export const tickMs = 2;

/** Returns the monotonic time in milliseconds. All threads share this clock. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Returns a clock of the milliseconds for which the main thread could have run while other work had the processors. On
 * a busy machine such waits delay ticks. Source: Documentation/scheduler/sched-stats.rst of Linux,
 * "/proc/<pid>/schedstat".
 */
export function createWaitClock(): () => number {
  const file = openSync('/proc/self/schedstat', 'r');
  const bytes = Buffer.alloc(128);
  return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0)).split(' ')[1]) / 1e6;
}

function watchLoop(cells: Float64Array): void {
  const waited = createWaitClock();
  let last = now();
  let wait = waited();
  let usage = process.threadCpuUsage();
  const tick = () => {
    const at = now();
    const used = process.threadCpuUsage(usage);
    const waitNow = waited();
    const delay = at - last - tickMs - (waitNow - wait);
    if (delay > (cells[cell.longestDelay] ?? 0)) {
      cells[cell.longestDelay] = delay;
      cells[cell.processorOfLongest] = (used.user + used.system) / 1_000;
    }
    last = at;
    wait = waitNow;
    usage = process.threadCpuUsage();
    cells[cell.lastTick] = at;
    cells[cell.waitAtLastTick] = waitNow;
  };
  tick();
  setInterval(tick, tickMs).unref();
}

// Worker threads of the service load this module as well.
const socket = process.env.HOLD_PROBE_SOCKET;
if (isMainThread && socket !== undefined) {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void; // the flag defines it
  const shared = new SharedArrayBuffer(8 * Object.keys(cell).length);
  const cells = new Float64Array(shared);
  watchLoop(cells);
  const thread = new Worker(new URL('./loop-probe-thread.ts', import.meta.url), {
    workerData: { shared, socket },
    env: {},
  });
  thread.on('message', () => {
    collectGarbage();
    thread.postMessage('collected');
  });
  thread.unref();
}

import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { createRingMemory, openRequestRing } from '../request-ring.ts';

/** Ends the process when its event loop is blocked. It runs in a thread of its own, because a blocked loop runs no timers. */
export interface Watchdog {
  /** Starts the watch. During the start long synchronous work is normal. */
  watch(): void;
  /** Records a request by method, path pattern and id, for the watchdog's log line. */
  begin(name: string): number;
  end(number: number): void;
  /** The longest time in seconds that the event loop was blocked, rounded down to ticks of the thread. */
  longestSilence(): number;
  close(): Promise<void>;
}

export interface WatchdogOptions {
  /** Seconds without progress of the event loop after which the process ends. */
  readonly seconds: number;
  /** The file descriptor of the log; null when the log is off. */
  readonly logFd: number | null;
}

/** The data that the thread receives. */
export interface WatchdogStart {
  readonly cells: Int32Array;
  readonly ring: SharedArrayBuffer;
  readonly seconds: number;
  readonly tickMs: number;
  readonly logFd: number | null;
}

/** Cells of the memory shared with the thread. */
const heartbeatCell = 0;
const longestCell = 1;

const maxHeapMb = 32;

/** @returns undefined when it is disabled: with 0 seconds, or under a debugger, which may pause the process */
export function startWatchdog({ seconds, logFd }: WatchdogOptions): Watchdog | undefined {
  if (seconds === 0 || inspectorUrl() !== undefined) return undefined;
  const tickMs = Math.min(1000, seconds * 100);
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const memory = createRingMemory();
  const workerData: WatchdogStart = { cells, ring: memory, seconds, tickMs, logFd };
  const thread = new Worker(new URL('./watchdog-thread.mjs', import.meta.url), {
    name: 'watchdog',
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  thread.unref();
  let heartbeat: NodeJS.Timeout | undefined;
  const ring = openRequestRing(memory);

  return {
    watch() {
      // The first beat is immediate, because the first request may block the event loop.
      Atomics.add(cells, heartbeatCell, 1);
      heartbeat ??= setInterval(() => Atomics.add(cells, heartbeatCell, 1), tickMs / 2).unref();
    },
    begin: ring.begin,
    end: ring.end,
    longestSilence: () => Math.floor((Atomics.load(cells, longestCell) * tickMs) / 1000),
    async close() {
      clearInterval(heartbeat);
      await thread.terminate();
    },
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { createRingMemory, openRequestRing } from '../request-ring.ts';

/** Ends the process when its event loop is stuck. A thread of its own looks, because a stuck loop runs no timer. */
export interface Watchdog {
  /** From now on a silent event loop ends the process. Before, at the start, work in one piece is normal. */
  watch(): void;
  /** Notes a request by method, pattern of the path and id, for the line that the watchdog writes. */
  begin(name: string): number;
  end(number: number): void;
  /** Calls a function whose work, also later, belongs to the request. */
  during(number: number, work: () => void): void;
  /** The longest time in seconds that the event loop was silent, rounded down to ticks of the thread. */
  longestSilence(): number;
  close(): Promise<void>;
}

export interface WatchdogOptions {
  /** Silence of the event loop after which the process ends. */
  readonly seconds: number;
  /** File descriptor of the log; null: the log is off. */
  readonly logFd: number | null;
  /** Writes the lines of the log that are still in memory. */
  readonly flush: () => void;
}

/** What the thread gets. */
export interface WatchdogStart {
  readonly cells: Int32Array;
  readonly ring: SharedArrayBuffer;
  readonly seconds: number;
  readonly tickMs: number;
  readonly logFd: number | null;
}

/** Functions of the interrupted main thread, which the watchdog thread calls through the inspector. */
export interface StuckThread {
  /** Number of the request whose work was interrupted, if it is known. Also writes the log that is in memory. */
  report(): number | undefined;
  end(): void;
}

/** Cells of the memory that is shared with the thread. */
const beatCell = 0;
const longestCell = 1;

/** The property of the global object under which the thread finds the {@link StuckThread}. */
export const stuckThreadKey = 'quartermaster.stuck-thread';
/** The same code as for other states that only a restart resolves. */
const exitCode = 70;
const maxHeapMb = 32;

/** Undefined when it is off: with 0 seconds, or when the process was started with a debugger, which may pause it. */
export function startWatchdog({ seconds, logFd, flush }: WatchdogOptions): Watchdog | undefined {
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
  let beat: NodeJS.Timeout | undefined;
  const ring = openRequestRing(memory);
  const current = new AsyncLocalStorage<number>();
  const stuckThread: StuckThread = {
    report() {
      flush();
      return current.getStore();
    },
    end: endProcess,
  };
  Object.defineProperty(globalThis, Symbol.for(stuckThreadKey), { value: stuckThread, configurable: true });

  return {
    watch() {
      // The first beat comes at once: the first request may be the one that blocks the event loop.
      Atomics.add(cells, beatCell, 1);
      beat ??= setInterval(() => Atomics.add(cells, beatCell, 1), tickMs / 2).unref();
    },
    begin: ring.begin,
    end: ring.end,
    during: (number, work) => current.run(number, work),
    longestSilence: () => Math.floor((Atomics.load(cells, longestCell) * tickMs) / 1000),
    async close() {
      clearInterval(beat);
      Reflect.deleteProperty(globalThis, Symbol.for(stuckThreadKey));
      await thread.terminate();
    },
  };
}

/**
 * Replaces the program of the process by one that ends with the code. `process.exit` would first write to the log that
 * Node waits for the debugger, by which the thread has interrupted the main thread.
 */
function endProcess(): void {
  process.execve?.(process.execPath, [process.execPath, '-e', `process.exitCode = ${exitCode}`], {});
}

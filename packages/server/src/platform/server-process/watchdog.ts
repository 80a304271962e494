import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

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

/** Names of requests in memory that two threads share. One thread writes them; the other reads them when the first is blocked. */
interface RequestRing {
  /** Records a request and returns its number. It replaces the oldest entry of the ring. */
  begin(name: string): number;
  /** Removes an answered request. */
  end(number: number): void;
  /** The names of the unanswered requests, newest first. */
  unanswered(): string[];
}

const slots = 64;
/** The size of a slot. Its first byte is the length of the name; longer names are cut. */
const slotBytes = 256;
const headerBytes = 4 * (1 + slots);
const encoder = new TextEncoder();

function createRingMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(headerBytes + slots * slotBytes);
}

export function openRequestRing(memory: SharedArrayBuffer): RequestRing {
  const count = new Int32Array(memory, 0, 1);
  const numbers = new Int32Array(memory, 4, slots);
  const bytes = new Uint8Array(memory, headerBytes);
  const names = Array.from({ length: slots }, (_, slot) =>
    bytes.subarray(slot * slotBytes + 1, (slot + 1) * slotBytes),
  );

  return {
    begin(name) {
      const number = ((count[0] ?? 0) + 1) & 0x3fffffff;
      const slot = number % slots;
      const { written } = encoder.encodeInto(name, names[slot] as Uint8Array);
      bytes[slot * slotBytes] = written;
      numbers[slot] = number;
      count[0] = number;
      return number;
    },
    end(number) {
      const slot = number % slots;
      if (numbers[slot] === number) bytes[slot * slotBytes] = 0;
    },
    unanswered() {
      const found: string[] = [];
      const newest = count[0] ?? 0;
      for (let number = newest; number > newest - slots; number--) {
        const slot = ((number % slots) + slots) % slots;
        const length = bytes[slot * slotBytes] ?? 0;
        // Copied, because shared memory cannot be decoded.
        if (length > 0) found.push(Buffer.from(names[slot]?.slice(0, length) ?? []).toString());
      }
      return found;
    },
  };
}

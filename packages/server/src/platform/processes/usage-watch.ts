import { readFileSync } from 'node:fs';

/**
 * Looks at what confined processes take of the machine, with one timer for all of them and only while there is one to
 * look at. It bounds what the heap limit of V8 does not: buffers, WebAssembly, native code. Without `/proc` it sees
 * nothing.
 */
export interface UsageWatch {
  watch(target: WatchTarget): Watched;
}

export interface WatchTarget {
  readonly pid: () => number | undefined;
  /** Whether it has work. A busy target is checked more often. */
  readonly isBusy: () => boolean;
  /** @returns true when the process exceeds a limit; it is then not checked again */
  readonly check: (pid: number) => boolean;
}

export interface Watched {
  /** The target has become busy. */
  wake(): void;
  end(): void;
}

/** Milliseconds between checks while a target is busy, and while none is. */
const [busyMs, idleMs] = [50, 1_000];
/** The unit of `statm`, which Node.js does not report. Where pages are larger, memory is underestimated by that factor. */
const pageBytes = 4096;
/** The unit of times in `stat`, the same for programs on every Linux. */
const tickMs = 10;

export function createUsageWatch(): UsageWatch {
  const targets = new Set<WatchTarget>();
  let timer: NodeJS.Timeout | undefined;
  /** With 0 there is no timer. */
  let intervalMs = 0;

  /** Work that is shorter than the interval does not create a timer. */
  function setTimer(ms: number): void {
    if (ms === intervalMs) return;
    intervalMs = ms;
    clearInterval(timer);
    timer = ms === 0 ? undefined : setInterval(look, ms).unref();
  }

  function look(): void {
    for (const target of targets) {
      const pid = target.pid();
      if (pid !== undefined && target.check(pid)) targets.delete(target);
    }
    const isBusy = targets.values().some((target) => target.isBusy());
    setTimer(isBusy ? busyMs : targets.size > 0 ? idleMs : 0);
  }

  return {
    watch: (target) => {
      targets.add(target);
      if (target.isBusy()) setTimer(busyMs);
      return { wake: () => setTimer(busyMs), end: () => void targets.delete(target) };
    },
  };
}

const usageWatch = createUsageWatch();

/**
 * Calls `onExceeded` once when a process holds more memory of its own than the limit.
 * @returns a function that ends the watch
 */
export function watchMemory(pid: () => number | undefined, limitMb: number, onExceeded: () => void): () => void {
  const check = (known: number): boolean => {
    const isExceeded = (readOwnMb(known) ?? 0) > limitMb;
    if (isExceeded) onExceeded();
    return isExceeded;
  };
  return usageWatch.watch({ pid, isBusy: () => true, check }).end;
}

/**
 * Calls `onExceeded` once when a process has used more than `limitMs` of processor time since the call.
 * @returns a function that ends the watch
 */
export function watchProcessorTime(pid: () => number | undefined, limitMs: number, onExceeded: () => void): () => void {
  let before: number | undefined;
  const check = (known: number): boolean => {
    const used = readProcessorMs(known) ?? 0;
    before ??= used;
    const isExceeded = used - before > limitMs;
    if (isExceeded) onExceeded();
    return isExceeded;
  };
  return usageWatch.watch({ pid, isBusy: () => true, check }).end;
}

/**
 * Resident memory in MiB; undefined where there is no `/proc`, or no such process. Synchronous, like the others: procfs
 * answers from memory, in microseconds.
 */
export function readResidentMb(pid: number): number | undefined {
  const pages = readProc(pid, 'statm')?.split(' ')[1];
  return pages === undefined ? undefined : (Number(pages) * pageBytes) / 1024 ** 2;
}

/** Resident memory in MiB without the pages of files, such as the program's, which all processes share. */
function readOwnMb(pid: number): number | undefined {
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** Processor time of all threads of a process, ended ones included, and of processes that it has waited for. */
export function readProcessorMs(pid: number): number | undefined {
  const stat = readProc(pid, 'stat');
  if (stat === undefined) return undefined;
  // The process chooses its name, which is the second field. The times are the fields 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * tickMs;
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}

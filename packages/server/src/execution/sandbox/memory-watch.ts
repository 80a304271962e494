import { readFileSync } from 'node:fs';

/** Looks at the resident memory of children, only while there is one to watch. Without `/proc` it sees nothing. */
export interface MemoryWatch {
  /** Calls `onExceeded` once when the process holds more than `limitMb`. Returns the end of watching. */
  watch(target: WatchTarget): () => void;
}

export interface WatchTarget {
  readonly pid: number;
  readonly limitMb: number;
  readonly onExceeded: () => void;
}

const intervalMs = 50;
/** The unit of `statm`. Node does not tell it; where pages are larger, memory is seen as too small by that factor. */
const pageBytes = 4096;

export function createMemoryWatch(): MemoryWatch {
  const targets = new Set<WatchTarget>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const target of targets) {
      if ((readResidentMb(target.pid) ?? 0) <= target.limitMb) continue;
      targets.delete(target);
      target.onExceeded();
    }
    if (targets.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    watch: (target) => {
      targets.add(target);
      // Runs shorter than the interval come and go without a timer being made for each.
      timer ??= setInterval(look, intervalMs).unref();
      return () => targets.delete(target);
    },
  };
}

/** Undefined where there is no `/proc`, or no such process. Synchronous: procfs answers from memory, in microseconds. */
export function readResidentMb(pid: number): number | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
    return (pages * pageBytes) / 1024 ** 2;
  } catch {
    return undefined;
  }
}

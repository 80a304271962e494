import { readFileSync } from 'node:fs';
import type { SandboxLimits, SandboxOutcome } from './sandbox.ts';

/** Looks at what children take of the machine, only while there is one to watch. Without `/proc` it sees nothing. */
export interface UsageWatch {
  /** Calls `onExceeded` once, with the outcome of the run that has taken more than it may. */
  watch(target: WatchTarget): Watched;
}

export interface Watched {
  /** A run begins in it. */
  wake(): void;
  end(): void;
}

export interface WatchTarget {
  readonly pid: number;
  /**
   * The run that what is taken counts for: the one in progress, or the last. Its processor time counts from the look
   * that finds it first, so that a run costs nothing when it begins.
   */
  readonly run: () => WatchedRun | undefined;
  /** Whether that run is in progress. */
  readonly isBusy: () => boolean;
  readonly onExceeded: (outcome: SandboxOutcome) => void;
}

export interface WatchedRun {
  readonly id: string;
  readonly limits: Pick<SandboxLimits, 'memoryMb' | 'cpuMs'>;
}

/** Between looks while a run is in progress; and while only what runs have left behind could take something. */
const [busyMs, idleMs] = [50, 1_000];
/** The unit of `statm`. Node does not tell it; where pages are larger, memory is seen as too small by that factor. */
const pageBytes = 4096;
/** The unit of times in `stat`, the same for programs on every Linux. */
const tickMs = 10;

/** What a run had not yet taken of its process when it was first seen. */
interface Beginning {
  readonly run: string;
  readonly cpuMs: number;
}

export function createUsageWatch(): UsageWatch {
  const targets = new Map<WatchTarget, Beginning | undefined>();
  let timer: NodeJS.Timeout | undefined;
  /** Milliseconds between looks; 0: there is nothing to look at. */
  let pace = 0;

  /** Runs that are shorter come and go without a timer being made for each. */
  function setPace(ms: number): void {
    if (ms === pace) return;
    pace = ms;
    clearInterval(timer);
    timer = ms === 0 ? undefined : setInterval(look, ms).unref();
  }

  function look(): void {
    for (const [target, seen] of targets) {
      const run = target.run();
      if (run === undefined) continue;
      const cpuMs = readProcessorMs(target.pid) ?? 0;
      const beginning = seen?.run === run.id ? seen : { run: run.id, cpuMs };
      targets.set(target, beginning);
      const outcome = judge(run, readResidentMb(target.pid) ?? 0, cpuMs - beginning.cpuMs);
      if (outcome === undefined) continue;
      targets.delete(target);
      target.onExceeded(outcome);
    }
    const isBusy = targets.keys().some((target) => target.isBusy());
    setPace(isBusy ? busyMs : targets.size > 0 ? idleMs : 0);
  }

  return {
    watch: (target) => {
      targets.set(target, undefined);
      return { wake: () => setPace(busyMs), end: () => void targets.delete(target) };
    },
  };
}

function judge({ limits }: WatchedRun, residentMb: number, usedMs: number): SandboxOutcome | undefined {
  if (residentMb > limits.memoryMb) return { kind: 'out_of_memory', limitMb: limits.memoryMb };
  if (usedMs > limits.cpuMs) return { kind: 'timed_out', limitMs: limits.cpuMs, of: 'processor' };
  return undefined;
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

/** Of all threads of a process, those that have ended too, and of processes it has waited for. */
export function readProcessorMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is a name of the process's own choice; the times are the fields 14 to 17.
    const times = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
    return times.reduce((sum, ticks) => sum + Number(ticks), 0) * tickMs;
  } catch {
    return undefined;
  }
}

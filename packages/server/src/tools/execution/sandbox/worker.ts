import { readResidentMb } from '../../../platform/processes/usage-watch.ts';
import type { Assignment, Host } from './host.ts';
import { createBlockingWatch } from './pipelining.ts';
import type { RunEnded } from './run.ts';

/**
 * The states of a process in a pool:
 *
 * - `starting`: it was spawned and is not ready yet.
 * - `idle`: it is ready and has no run.
 * - `busy`: it has at least one run. It accepts another one only where pipelining allows that.
 * - `draining`: it has runs and accepts no more. After the last one it is stopped.
 * - `stopping`: the pool has killed it.
 * - `crashed`: it exited without being stopped, or was killed because it broke a rule.
 */
export type WorkerState = 'starting' | 'idle' | 'busy' | 'draining' | 'stopping' | 'crashed';

/** A run without an outcome yet. */
export interface PendingRun {
  readonly assignment: Assignment;
  /** A worker returned the run before it began. It goes to the head of the queue and is not pipelined. */
  isRequeued: boolean;
  /** Set at assignment: nothing may be pipelined behind the run, because its handler is not known to be quick. */
  blocksPipeline: boolean;
}

/** A process of a pool, and the runs assigned to it. */
export interface Worker {
  state(): WorkerState;
  /** Resolves with true when the process is ready, and with false when it exited before. */
  readonly ready: Promise<boolean>;
  /** Resolves when the process has exited, with its stderr tail. */
  readonly exited: Promise<string>;
  /** The number of assigned runs that have not ended. */
  depth(): number;
  /** Whether its state and pipelining allow it to accept the run. */
  accepts(run: PendingRun): boolean;
  /** Assigns the run if the worker accepts it; otherwise returns false. */
  assign(run: PendingRun): boolean;
  /** Executes an assigned run. Pass the result to `release`. */
  execute(run: PendingRun): Promise<RunEnded>;
  /** Removes a run that has ended or that was returned before it began. */
  release(run: PendingRun, ended: RunEnded): void;
  /** Whether it has executed its maximum of runs, or retains too much memory. */
  isWornOut(): boolean;
  drain(): void;
  stop(): void;
  /** The milliseconds since `since` (`performance.now()`) during which the process was starting. */
  startupMsSince(since: number): number;
}

export interface WorkerOptions {
  readonly isQuick: (handlerUrl: string) => boolean;
  readonly recycleAfterRuns: number;
  readonly memoryMb: number;
}

const startLimitMs = 10_000;
/** A longer pipeline would delay runs behind an unexpectedly slow one and save little. */
const pipelineDepth = 16;
/** The part of the memory limit above which a process is replaced, before the next run exceeds the limit. */
const memoryKept = 0.8;
const runsBetweenMemoryLooks = 500;

export function createWorker(host: Host, options: WorkerOptions): Worker {
  const spawnedAt = performance.now();
  let readyAt = Number.POSITIVE_INFINITY;
  let state: Exclude<WorkerState, 'crashed'> = 'starting';
  let [depth, blocking, finished] = [0, 0, 0];
  const watch = createBlockingWatch({
    depth: () => depth,
    finished: () => finished,
    onBlocked: () => host.requeuePending(),
  });

  async function becomeReady(): Promise<boolean> {
    const limit = setTimeout(() => host.kill(), startLimitMs);
    const isReady = await host.ready;
    clearTimeout(limit);
    readyAt = performance.now();
    if (isReady && state === 'starting') state = 'idle';
    return isReady;
  }

  function currentState(): WorkerState {
    return state === 'stopping' || host.isAlive() ? state : 'crashed';
  }

  function accepts({ isRequeued }: PendingRun): boolean {
    if (currentState() === 'idle') return true;
    if (currentState() !== 'busy' || isRequeued) return false;
    return depth < pipelineDepth && blocking === 0 && finished > 0 && host.isOpen();
  }

  function assign(run: PendingRun): boolean {
    if (!accepts(run)) return false;
    state = 'busy';
    depth += 1;
    run.blocksPipeline = !options.isQuick(run.assignment.handlerUrl);
    if (run.blocksPipeline) blocking += 1;
    return true;
  }

  function release({ blocksPipeline }: PendingRun, { outcome }: RunEnded): void {
    depth -= 1;
    if (blocksPipeline) blocking -= 1;
    if (outcome !== null) finished += 1;
    if (depth > 0) return;
    if (state === 'busy') state = 'idle';
    else if (state === 'draining') stop();
  }

  function stop(): void {
    state = 'stopping';
    watch.stop();
    host.kill({ kind: 'cancelled' });
  }

  return {
    state: currentState,
    ready: becomeReady(),
    exited: host.ended,
    depth: () => depth,
    accepts,
    assign,
    execute: ({ assignment }) => {
      if (!host.isAlive()) return Promise.resolve({ outcome: null, ms: undefined });
      if (depth > 1) watch.start();
      return host.run(assignment);
    },
    release,
    isWornOut: () => {
      if (finished >= options.recycleAfterRuns) return true;
      const pid = host.pid();
      if (finished % runsBetweenMemoryLooks !== 0 || pid === undefined) return false;
      return (readResidentMb(pid) ?? 0) > memoryKept * options.memoryMb;
    },
    drain: () => {
      if (currentState() === 'busy') state = 'draining';
      else if (currentState() === 'idle') stop();
    },
    stop,
    startupMsSince: (since) => Math.max(0, readyAt - Math.max(spawnedAt, since)),
  };
}

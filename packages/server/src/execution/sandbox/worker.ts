import { readResidentMb } from '../../processes/usage-watch.ts';
import type { Assignment, Host } from './host.ts';
import { createBlockingWatch } from './pipelining.ts';
import type { RunEnded } from './run.ts';

/**
 * The life of a process in a pool:
 *
 * - `starting`: it was spawned and has not said that it is ready.
 * - `idle`: it is ready and has no run.
 * - `busy`: it has at least one run. It accepts another one only where pipelining allows that.
 * - `draining`: it has runs and accepts no more. After the last one it is stopped.
 * - `stopping`: the pool has killed it.
 * - `crashed`: it has exited otherwise, or was killed because it broke a rule.
 */
export type WorkerState = 'starting' | 'idle' | 'busy' | 'draining' | 'stopping' | 'crashed';

/** A run until it has an outcome. */
export interface PendingRun {
  readonly assignment: Assignment;
  /** A worker returned it without having begun it: it goes to the head of the queue, and behind no other run. */
  isRequeued: boolean;
  /** Nothing may be pipelined behind it, because its handler is not known to be quick. Set when it is assigned. */
  blocksPipeline: boolean;
}

/** A process of a pool, and the runs assigned to it. */
export interface Worker {
  state(): WorkerState;
  /** Resolves when the process is ready; with false when it exited before. */
  readonly ready: Promise<boolean>;
  /** Resolves when the process is gone, with the end of what it printed. */
  readonly exited: Promise<string>;
  /** Runs assigned to it that have not ended. */
  depth(): number;
  /** Whether its state and pipelining allow it to take the run. */
  accepts(run: PendingRun): boolean;
  /** Takes the run if it accepts it. False: refused. */
  assign(run: PendingRun): boolean;
  /** Executes an assigned run. Call `release` with what it resolves with. */
  execute(run: PendingRun): Promise<RunEnded>;
  /** The run has ended, or was returned without having begun. */
  release(run: PendingRun, ended: RunEnded): void;
  /** Whether it has executed its share of runs, or holds on to too much memory. */
  isWornOut(): boolean;
  drain(): void;
  stop(): void;
  /** Of the time since `since` (`performance.now()`), the milliseconds in which it was starting. */
  startupMsSince(since: number): number;
}

export interface WorkerOptions {
  readonly isQuick: (handlerUrl: string) => boolean;
  readonly recycleAfterRuns: number;
  readonly memoryMb: number;
}

const startLimitMs = 10_000;
/** More would delay what is behind a run that is unexpectedly slow, and save little. */
const pipelineDepth = 16;
/** A process whose memory stays above this part of the limit is replaced before the next run exceeds it. */
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

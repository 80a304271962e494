import type { Host } from './host.ts';
import type { SandboxTask } from './sandbox.ts';

/** A child of a pool and what it has been given. */
export interface Worker {
  readonly host: Host;
  /** Milliseconds of `performance.now()`. */
  readonly spawnedAt: number;
  /** … when it could take a run. */
  readyAt: number;
  /** Runs that ended in it. */
  runs: number;
  /** Runs given to it that have not ended. */
  inFlight: number;
  /** … of handlers that are not known to be quick: nothing may wait behind them. */
  slow: number;
  idleSince: number;
  /** It gets no more runs, and is told to end when it has none. */
  isLeaving: boolean;
  /** It has been told to end. */
  retired: boolean;
}

export function createWorker(host: Host): Worker {
  const times = { spawnedAt: performance.now(), readyAt: Number.POSITIVE_INFINITY, idleSince: 0 };
  return { host, ...times, runs: 0, inFlight: 0, slow: 0, isLeaving: false, retired: false };
}

/** Of the time a run has waited, what went into the start of the process it was given. */
export function noteStart({ timings }: SandboxTask, { spawnedAt, readyAt }: Worker, waitsSince: number): void {
  if (timings !== undefined) timings.startMs += Math.max(0, readyAt - Math.max(spawnedAt, waitsSince));
}

/** More would hold up what comes behind a run that is slow against all expectation, and saves little. */
const mostInFlight = 16;

/** Whether a run may be given to it behind those that it has. */
export function hasRoom({ host, runs, inFlight, slow, isLeaving, retired }: Worker): boolean {
  return inFlight < mostInFlight && slow === 0 && runs > 0 && !isLeaving && !retired && host.isOpen();
}

/** Calls runs back that wait behind one that takes longer than such runs do. */
export interface StallWatch {
  /** To be told when a child has more than one run. */
  watch(worker: Worker): void;
  close(): void;
}

const patienceMs = 20;

export function createStallWatch(): StallWatch {
  /** How many runs had ended at the last look. */
  const watched = new Map<Worker, number>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [worker, runs] of watched) {
      if (worker.inFlight < 2) watched.delete(worker);
      else if (worker.runs === runs) worker.host.recall();
      else watched.set(worker, worker.runs);
    }
    if (watched.size === 0) close();
  }

  function close(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    watch: (worker) => {
      if (watched.has(worker)) return;
      watched.set(worker, worker.runs);
      timer ??= setInterval(look, patienceMs).unref();
    },
    close,
  };
}

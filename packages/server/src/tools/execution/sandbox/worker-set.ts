import type { Clock } from '../../../platform/clock.ts';
import type { Host } from './host.ts';
import type { SlotOwner, Slots } from './slots.ts';
import { createWorker, type PendingRun, type Worker, type WorkerOptions } from './worker.ts';

/** The processes of one pool: starts them, finds one for each run, and stops them. */
export interface WorkerSet {
  size(): number;
  /** The number of processes that are not ready yet. */
  starting(): number;
  /** Offers the worker that became idle last to `accept`, otherwise the least busy one that accepts the run. */
  assign(run: PendingRun, accept: (worker: Worker) => boolean): Worker | undefined;
  /** Offers each idle worker again. */
  offerIdle(): void;
  /** Starts a worker. The caller must have acquired a slot. */
  start(): void;
  /** Offers a worker that may accept a run to `onAvailable`. A worker that gets no run becomes idle. */
  offer(worker: Worker): void;
  /** The time since which the longest idle worker has been idle, in milliseconds since 1970. */
  idleSince(): number | undefined;
  stopLongestIdle(): void;
  /** Resolves when every process is gone. */
  stopAll(): Promise<void>;
}

export interface WorkerSetOptions extends WorkerOptions {
  readonly owner: SlotOwner;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly startHost: () => Host;
  /** Called when a worker may accept queued runs. */
  readonly onAvailable: (worker: Worker) => void;
  /** Called when a process could not be started, or exited before it was ready. */
  readonly onStartFailed: () => void;
  /** Called when a process exited although the pool did not stop it. `printed` is its stderr tail, which is untrusted text. */
  readonly onCrash: (printed: string) => void;
  /** Called when a process has exited and its slot is free. */
  readonly onExit: () => void;
}

interface IdleWorker {
  readonly worker: Worker;
  readonly since: number;
}

export function createWorkerSet(options: WorkerSetOptions): WorkerSet {
  const { owner, slots, clock } = options;
  const workers = new Set<Worker>();
  /** Idle workers, the longest idle first. The last one is used next, so that unneeded workers stay idle and are stopped. */
  const idle: IdleWorker[] = [];
  let starting = 0;

  function takeIdle(accept: (worker: Worker) => boolean): Worker | undefined {
    const at = idle.findLastIndex(({ worker }) => accept(worker));
    return at < 0 ? undefined : idle.splice(at, 1)[0]?.worker;
  }

  function takeLeastBusy(run: PendingRun, accept: (worker: Worker) => boolean): Worker | undefined {
    let least: Worker | undefined;
    for (const worker of workers) {
      if (worker.depth() < (least?.depth() ?? Number.POSITIVE_INFINITY) && worker.accepts(run)) least = worker;
    }
    return least !== undefined && accept(least) ? least : undefined;
  }

  function offer(worker: Worker): void {
    options.onAvailable(worker);
    if (worker.state() !== 'idle') return;
    idle.push({ worker, since: clock.now() });
    slots.offer();
  }

  async function start(): Promise<void> {
    const host = spawn();
    if (host === undefined) {
      options.onStartFailed();
      return slots.release(owner);
    }
    const worker = createWorker(host, options);
    workers.add(worker);
    void removeOnExit(worker);
    starting += 1;
    const isReady = await worker.ready;
    starting -= 1;
    if (isReady) offer(worker);
    else if (worker.state() !== 'stopping') options.onStartFailed();
  }

  /** @returns undefined when the system cannot start another process. For some causes Node.js throws. */
  function spawn(): Host | undefined {
    try {
      return options.startHost();
    } catch (cause) {
      options.onCrash(cause instanceof Error ? cause.message : String(cause));
      return undefined;
    }
  }

  async function removeOnExit(worker: Worker): Promise<void> {
    const printed = await worker.exited;
    workers.delete(worker);
    const at = idle.findIndex((one) => one.worker === worker);
    if (at >= 0) idle.splice(at, 1);
    if (worker.state() !== 'stopping') options.onCrash(printed);
    slots.release(owner);
    options.onExit();
  }

  return {
    size: () => workers.size,
    starting: () => starting,
    assign: (run, accept) => takeIdle(accept) ?? takeLeastBusy(run, accept),
    offerIdle: () => {
      for (const one of idle.splice(0)) {
        options.onAvailable(one.worker);
        if (one.worker.state() === 'idle') idle.push(one);
      }
    },
    start: () => void start(),
    offer,
    idleSince: () => idle[0]?.since,
    stopLongestIdle: () => idle.shift()?.worker.stop(),
    stopAll: async () => {
      const exits = [...workers].map(({ exited }) => exited);
      for (const worker of workers) worker.stop();
      await Promise.all(exits);
    },
  };
}

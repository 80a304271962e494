import type { Clock } from '../../kernel/clock.ts';
import { createBreaker } from './breaker.ts';
import type { Assignment, Host } from './host.ts';
import { createPace } from './pace.ts';
import type { SandboxOutcome } from './sandbox.ts';
import type { SlotOwner, Slots } from './slots.ts';
import { readResidentMb } from './usage-watch.ts';
import { createWaitingLine } from './waiting-line.ts';
import { createStallWatch, createWorker, hasRoom, noteStart, type Worker } from './worker.ts';

/** The children that run one bundle for one project, and the runs that wait for them (ADR 0024). */
export interface Pool {
  readonly owner: SlotOwner;
  run(assignment: Assignment): Promise<SandboxOutcome>;
  /** Starts children for those who wait, as far as there is room. */
  dispatch(): void;
  /** Since when runs wait although there is no child at all for them. */
  starvingSince(): number | undefined;
  /** Since when the child that has been idle longest is so. */
  idleSince(): number | undefined;
  endLongestIdle(): void;
  /** … and since when the first of them has been waiting. */
  counts(): { readonly children: number; readonly waiting: number; readonly since: number | undefined };
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly owner: SlotOwner;
  readonly startHost: () => Host;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly maxChildren: number;
  readonly queueLength: number;
  readonly recycleAfterRuns: number;
  readonly memoryMb: number;
  /** So long a run may wait at least, however short it may run: starting a child takes time on a busy machine. */
  readonly leastWaitMs: number;
  /** A child ended without having been told to; its last words are untrusted text. */
  readonly onCrash: (lastWords: string) => void;
}

/** One run on its way to a child. */
interface Claim {
  readonly assignment: Assignment;
  /** It was given to a child that did not begin it: this time it waits behind no other. */
  alone: boolean;
  /** Nothing may wait behind it. */
  isSlow: boolean;
}

const startLimitMs = 10_000;
/** A child whose memory stays above this part of the limit is replaced before the next run meets it. */
const memoryKept = 0.8;
const runsBetweenMemoryLooks = 500;

export function createPool(options: PoolOptions): Pool {
  const { owner, slots, clock } = options;
  const breaker = createBreaker(clock);
  const workers = new Set<Worker>();
  /** The longest idle first; the last is used next, so that those not needed age. */
  const idle: Worker[] = [];
  const line = createWaitingLine<Worker>(clock, queueFull);
  const pace = createPace();
  const stalls = createStallWatch();
  let starting = 0;
  let typicalRunMs = 10;
  let closed = false;

  function queueFull(): SandboxOutcome {
    const seconds = ((line.length() + 1) * typicalRunMs) / options.maxChildren / 1000;
    return { kind: 'queue_full', retryAfterSeconds: Math.min(60, Math.max(1, Math.ceil(seconds))) };
  }

  function paused(): SandboxOutcome | undefined {
    const until = breaker.pausedUntil();
    if (until === undefined) return undefined;
    const when = new Date(until).toISOString();
    return {
      kind: 'crashed',
      message: `The bundle crashed ${breaker.crashes()} times in a row and rests until ${when}.`,
    };
  }

  async function run(assignment: Assignment): Promise<SandboxOutcome> {
    const { signal, task } = assignment;
    const claim: Claim = { assignment, alone: false, isSlow: true };
    const take = (worker: Worker): boolean => reserve(worker, claim);
    for (;;) {
      if (closed || signal.aborted) return { kind: 'cancelled' };
      const refused = paused();
      if (refused !== undefined) return refused;
      let worker = line.length() === 0 ? choose(take) : undefined;
      if (worker === undefined) {
        if (!claim.alone && (line.length() >= options.queueLength || !slots.canQueue(owner))) return queueFull();
        const limitMs = Math.max(options.leastWaitMs, task.limits.timeoutMs);
        const waitsSince = performance.now();
        const turn = line.join({ signal, limitMs, isFirst: claim.alone, take });
        dispatch();
        const given = await turn;
        if (given.kind !== 'turn') return given;
        worker = given.value;
        noteStart(task, worker, waitsSince);
      }
      // It may have ended since it became free.
      const outcome = worker.host.isAlive() ? await execute(worker, claim) : null;
      if (outcome !== null) return outcome;
      claim.alone = true;
    }
  }

  /** The child that became idle last; else, for a run that may stand behind others, the one with the fewest. */
  function choose(take: (worker: Worker) => boolean): Worker | undefined {
    let best = idle.pop();
    if (best === undefined) {
      for (const worker of workers) {
        if (worker.inFlight > 0 && hasRoom(worker) && worker.inFlight < (best?.inFlight ?? Infinity)) best = worker;
      }
    }
    return best !== undefined && take(best) ? best : undefined;
  }

  /** Counts the run before it is begun: several may be given to a child in one turn of the loop. */
  function reserve(worker: Worker, claim: Claim): boolean {
    if (worker.inFlight > 0 && (claim.alone || !hasRoom(worker))) return false;
    worker.inFlight += 1;
    claim.isSlow = !pace.isQuick(claim.assignment.handlerUrl);
    if (claim.isSlow) worker.slow += 1;
    return true;
  }

  /** Null: the child never began it. */
  async function execute(worker: Worker, { assignment, isSlow }: Claim): Promise<SandboxOutcome | null> {
    if (worker.inFlight > 1) stalls.watch(worker);
    const begun = performance.now();
    const { outcome, ms } = await worker.host.run(assignment);
    worker.inFlight -= 1;
    if (isSlow) worker.slow -= 1;
    if (outcome !== null) {
      worker.runs += 1;
      const took = ms ?? performance.now() - begun;
      pace.took(assignment.handlerUrl, took);
      typicalRunMs += (took - typicalRunMs) / 16;
      if (outcome.kind === 'crashed' || outcome.kind === 'out_of_memory') breaker.crashed();
      else if (outcome.kind !== 'cancelled') breaker.worked();
      dissolveWhenPaused();
      worker.isLeaving ||= isWornOut(worker) || slots.mustYield(owner);
    }
    if (!worker.isLeaving) offer(worker);
    else if (worker.inFlight === 0) retire(worker);
    return outcome;
  }

  function isWornOut({ runs, host }: Worker): boolean {
    if (runs >= options.recycleAfterRuns) return true;
    if (runs % runsBetweenMemoryLooks !== 0 || host.pid() === undefined) return false;
    return (readResidentMb(host.pid() ?? 0) ?? 0) > memoryKept * options.memoryMb;
  }

  function offer(worker: Worker): void {
    if (!worker.host.isAlive()) return;
    while (line.serve(worker));
    if (worker.inFlight > 0) return;
    worker.idleSince = clock.now();
    idle.push(worker);
    slots.offer();
  }

  function retire(worker: Worker): void {
    worker.retired = true;
    worker.host.kill({ kind: 'cancelled' });
  }

  function dispatch(): void {
    while (!closed && starting < line.length() && workers.size < options.maxChildren && slots.take(owner)) {
      void start();
    }
  }

  async function start(): Promise<void> {
    const host = startHost();
    if (host === undefined) return giveUp();
    const worker = createWorker(host);
    workers.add(worker);
    void forget(worker);
    starting += 1;
    const limit = setTimeout(() => host.kill(), startLimitMs);
    const isReady = await host.ready;
    clearTimeout(limit);
    starting -= 1;
    worker.readyAt = performance.now();
    if (isReady) return offer(worker);
    if (!worker.retired) breaker.crashed();
    dissolveWhenPaused();
  }

  /** Undefined when the system has no more room for a process: Node throws for some such reasons. */
  function startHost(): Host | undefined {
    try {
      return options.startHost();
    } catch (cause) {
      options.onCrash(cause instanceof Error ? cause.message : String(cause));
      return undefined;
    }
  }

  /** Counts as a crash, so that those who wait are not tried again and again. */
  function giveUp(): void {
    breaker.crashed();
    dissolveWhenPaused();
    slots.release(owner);
  }

  function dissolveWhenPaused(): void {
    const rest = paused();
    if (rest !== undefined) line.dissolve(rest);
  }

  async function forget(worker: Worker): Promise<void> {
    const lastWords = await worker.host.ended;
    workers.delete(worker);
    const at = idle.indexOf(worker);
    if (at >= 0) idle.splice(at, 1);
    if (!worker.retired) options.onCrash(lastWords);
    slots.release(owner);
    dispatch();
  }

  return {
    owner,
    run,
    dispatch,
    starvingSince: () => (workers.size === 0 ? line.since() : undefined),
    idleSince: () => idle[0]?.idleSince,
    endLongestIdle: () => {
      const worker = idle.shift();
      if (worker !== undefined) retire(worker);
    },
    counts: () => ({ children: workers.size, waiting: line.length(), since: line.since() }),
    close: async () => {
      closed = true;
      stalls.close();
      line.dissolve({ kind: 'cancelled' });
      const ends = [...workers].map(({ host }) => host.ended);
      for (const worker of workers) retire(worker);
      await Promise.all(ends);
    },
  };
}

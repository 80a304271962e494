import type { Admission } from '../../platform/admission/admission.ts';
import type { Owner } from '../../platform/admission/owner.ts';
import type { AsyncRun } from './async-run.ts';
import { tooManyAsyncRuns } from './problems.ts';

export interface QueueBounds {
  /** The maximum number of runs that execute at the same time. */
  readonly maxRunning: number;
  /** The maximum number of runs that execute or wait. A project alone takes half of them, and a key alone a quarter. */
  readonly maxAccepted: number;
  /** The maximum number of characters of all requests together, shared likewise. */
  readonly maxSize: number;
}

/**
 * The runs that this process has accepted, executing or waiting, within bounds. Clients have their ids, so no run is displaced:
 * runs hold places in fair shares until they end.
 */
export interface RunQueue {
  readonly all: ReadonlyMap<string, AsyncRun>;
  /** The number of further runs that the queue can accept. */
  remaining(): number;
  /** The number of further runs that would start at once. */
  startable(): number;
  /** Whether `reserve` would succeed. */
  mayReserve(run: AsyncRun): boolean;
  /** The owners of accepted runs that may reserve no further place at present. */
  ownersWithoutPlace(): Owner[];
  /** Reserves a place for a run without starting it. Throws TOO_MANY_REQUESTS. */
  reserve(run: AsyncRun): void;
  /** Starts a run with a reserved place, or queues it. */
  enqueue(run: AsyncRun): void;
  /** Starts a waiting run immediately, beyond `maxRunning`. @returns false when the run does not wait */
  promote(run: AsyncRun): boolean;
  /** Releases the place of a run. */
  release(run: AsyncRun): void;
}

/** @param work never rejects */
export function createRunQueue(
  bounds: QueueBounds & { readonly admission: Admission },
  work: (run: AsyncRun) => Promise<void>,
): RunQueue {
  const { admission, maxAccepted, maxSize, maxRunning } = bounds;
  const all = new Map<string, AsyncRun>();
  const places = admission.places('async_runs', { places: maxAccepted, sizes: maxSize, refuse: tooManyAsyncRuns });
  const queue = admission.queue('running_async_runs', { permits: maxRunning, waiting: Number.POSITIVE_INFINITY });
  const leave = new Map<string, () => void>();
  /** Ends the wait of each run that waits. */
  const waiting = new Map<string, AbortController>();

  async function start(run: AsyncRun): Promise<void> {
    const { id } = run.stored;
    const promoted = new AbortController();
    waiting.set(id, promoted);
    const endTurn = await queue.acquire(ownerOf(run), { signal: promoted.signal, isAccepted: true });
    waiting.delete(id);
    await work(run);
    endTurn?.();
  }

  return {
    all,
    remaining: () => Math.max(0, maxAccepted - all.size),
    startable: () => Math.max(0, maxRunning - all.size),
    mayReserve: (run) => places.mayEnter(ownerOf(run), run.size),
    ownersWithoutPlace: () => {
      const owners = new Map<string, Owner>();
      for (const run of all.values()) owners.set(`${run.stored.projectId} ${run.keyId ?? ''}`, ownerOf(run));
      return [...owners.values()].filter((owner) => !places.mayEnter(owner));
    },
    reserve: (run) => {
      leave.set(run.stored.id, places.enter(ownerOf(run), run.size));
      all.set(run.stored.id, run);
    },
    enqueue: (run) => {
      run.isHeld = true;
      void start(run);
    },
    promote: ({ stored: { id } }) => {
      const wait = waiting.get(id);
      wait?.abort();
      return waiting.delete(id);
    },
    release: ({ stored: { id } }) => {
      leave.get(id)?.();
      leave.delete(id);
      all.delete(id);
    },
  };
}

function ownerOf({ stored: { projectId }, keyId }: AsyncRun): Owner {
  return { projectId, keyId };
}

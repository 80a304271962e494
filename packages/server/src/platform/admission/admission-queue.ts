import { createFairOrder } from './fair-order.ts';
import type { Owner } from './owner.ts';
import type { ShareCounts, Shares } from './share-counts.ts';

/** The permits that `keepsPlaces` adds: one for a project and one for a key. */
export const keptPlaces = 2;

/** Limits the number of tasks that run at once. Other tasks wait. Projects, and the keys of a project, are served in turn. */
export interface AdmissionQueue {
  /**
   * Waits for a turn. @returns the function that ends the turn; null when the signal aborts first
   * @throws the error of `refuse` when the waiting entries are full and the caller's share of them is the largest
   */
  acquire(owner: Owner, wait?: Wait): Promise<(() => void) | null>;
  /** Runs a task in its turn. @returns null when the signal aborts before the task starts */
  run<T>(owner: Owner, task: () => Promise<T>, wait?: Wait): Promise<T | null>;
  /** Runs a task in its turn. @returns null also when the queue refuses it */
  tryRun<T>(owner: Owner, task: () => Promise<T>, wait?: Wait): Promise<T | null>;
}

export interface Wait {
  readonly signal?: AbortSignal | undefined;
  /** Whether the work was already accepted. Accepted work is never refused and does not count as waiting. */
  readonly isAccepted?: boolean;
}

export interface QueueOptions {
  /** The number of tasks that run at once. */
  readonly permits: number;
  /** The number of callers that may wait. */
  readonly waiting: number;
  /**
   * Keeps one more permit for a project that runs nothing, and one for a key that runs nothing while its project does. Tasks
   * that take long would otherwise occupy every permit.
   */
  readonly keepsPlaces?: boolean;
  /** The error for a caller that is refused. */
  readonly refuse: () => Error;
}

interface Entry extends Owner {
  readonly isRefusable: boolean;
  readonly start: (end: () => void) => void;
  readonly refuse: () => void;
}

/**
 * A full queue refuses the newest entry of the largest share, so a new entry of a smaller share displaces an entry of the owner that has
 * the most. More requests therefore do not give a caller a larger share.
 */
export function createAdmissionQueue(
  options: QueueOptions,
  { running, countRefused }: { readonly running: ShareCounts; readonly countRefused: () => void },
): AdmissionQueue & { readonly waiting: () => number } {
  const order = createFairOrder<Entry>((entry) => entry);
  /** The kept permits in use. */
  const kept = { project: 0, key: 0 };
  let refusable = 0;

  function findPermit({ all, project, key }: Shares): keyof typeof kept | 'general' | null {
    if (all - kept.project - kept.key < options.permits) return 'general';
    if (options.keepsPlaces !== true || key > 0) return null;
    const permit = project === 0 ? 'project' : 'key';
    return kept[permit] === 0 ? permit : null;
  }

  function holds(owner: Owner): Shares | null {
    const held = running.of(owner);
    return findPermit(held) === null ? null : held;
  }

  function leave(entry: Entry): boolean {
    const isGone = order.remove(entry);
    if (isGone && entry.isRefusable) refusable -= 1;
    return isGone;
  }

  function startNext(): void {
    for (let entry = order.next(holds); entry !== undefined; entry = order.next(holds)) start(entry);
  }

  function start(entry: Entry): void {
    const { projectId, keyId } = entry;
    if (entry.isRefusable) refusable -= 1;
    const permit = findPermit(running.of(entry));
    const count = (by: 1 | -1) => {
      running.add({ projectId, keyId }, by);
      if (permit === 'project' || permit === 'key') kept[permit] += by;
    };
    count(1);
    let isRunning = true;
    entry.start(() => {
      if (!isRunning) return;
      isRunning = false;
      count(-1);
      startNext();
    });
  }

  function add(entry: Entry): void {
    order.add(entry);
    if (entry.isRefusable) refusable += 1;
    startNext();
    if (refusable <= options.waiting) return;
    const refused = order.newestOfLargest(entry, (waiting) => waiting.isRefusable);
    if (refused === undefined || !leave(refused)) return;
    countRefused();
    refused.refuse();
  }

  /** @returns the function that ends the turn; why there is none otherwise */
  async function enter({ projectId, keyId }: Owner, { signal, isAccepted = false }: Wait = {}) {
    if (signal?.aborted) return 'aborted';
    const { promise, resolve } = Promise.withResolvers<(() => void) | 'aborted' | 'refused'>();
    const refuse = () => resolve('refused');
    const entry: Entry = { projectId, keyId, isRefusable: !isAccepted, start: resolve, refuse };
    const cancel = () => void (leave(entry) && resolve('aborted'));
    add(entry);
    signal?.addEventListener('abort', cancel, { once: true });
    return await promise.finally(() => signal?.removeEventListener('abort', cancel));
  }

  async function acquire(owner: Owner, wait?: Wait) {
    const entered = await enter(owner, wait);
    if (entered === 'refused') throw options.refuse();
    return entered === 'aborted' ? null : entered;
  }

  async function runUntil<T>(end: (() => void) | null, task: () => Promise<T>): Promise<T | null> {
    if (end === null) return null;
    try {
      return await task();
    } finally {
      end();
    }
  }

  return {
    acquire,
    waiting: order.size,
    run: async (owner, task, wait) => await runUntil(await acquire(owner, wait), task),
    tryRun: async (owner, task, wait) => {
      const entered = await enter(owner, wait);
      return await runUntil(typeof entered === 'string' ? null : entered, task);
    },
  };
}

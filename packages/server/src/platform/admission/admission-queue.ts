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

/**
 * The waiting entries, by project and key. The next entry belongs to the project with the fewest permits, and to its key with the fewest;
 * projects and keys with equal counts are served in turn. The entries of one key are first in, first out.
 */
interface FairOrder<T> {
  size(): number;
  values(): Iterable<T>;
  add(item: T): void;
  /** @returns false when the item does not wait */
  remove(item: T): boolean;
  /**
   * Removes and returns the next item; undefined when none may start.
   * @param holds returns the permits that an owner holds at present; null when its entries may not start
   */
  next(holds: (owner: Owner) => Shares | null): T | undefined;
  /** Returns the item that `next` would remove. */
  peek(holds: (owner: Owner) => Shares | null): T | undefined;
  /** Removes an item that starts, which ends the turn of its key and project. @returns false when the item does not wait */
  take(item: T): boolean;
  /** Returns the newest item of the project with the most waiting items, and of its key with the most. If shares are equal, the item of the arriving owner. */
  newestOfLargest(arriving: Owner, isRefusable: (item: T) => boolean): T | undefined;
}

type Keys<T> = Map<string | null, Set<T>>;

export function createFairOrder<T>(ownerOf: (item: T) => Owner): FairOrder<T> {
  /** In the order in which they are served. No collection is empty. */
  const projects = new Map<string | null, Keys<T>>();
  let size = 0;

  function remove(item: T): boolean {
    const { projectId, keyId } = ownerOf(item);
    const keys = projects.get(projectId);
    const items = keys?.get(keyId);
    if (keys === undefined || items?.delete(item) !== true) return false;
    size -= 1;
    if (items.size === 0) keys.delete(keyId);
    if (keys.size === 0) projects.delete(projectId);
    return true;
  }

  function findNext(holds: (owner: Owner) => Shares | null): Owner | undefined {
    let [least, found] = [undefined as Shares | undefined, undefined as Owner | undefined];
    for (const [projectId, keys] of projects) {
      for (const keyId of keys.keys()) {
        const held = holds({ projectId, keyId });
        if (held === null) continue;
        const isLess =
          projectId === found?.projectId ? held.key < (least?.key ?? 0) : held.project < (least?.project ?? 0);
        if (least === undefined || isLess) [least, found] = [held, { projectId, keyId }];
      }
      if (least?.project === 0) break;
    }
    return found;
  }

  function peek(holds: (owner: Owner) => Shares | null): T | undefined {
    const owner = findNext(holds);
    const [item] = (owner && projects.get(owner.projectId)?.get(owner.keyId)) ?? [];
    return item;
  }

  function take(item: T): boolean {
    const { projectId, keyId } = ownerOf(item);
    const keys = projects.get(projectId);
    if (keys?.get(keyId)?.has(item) !== true) return false;
    moveToEnd(keys, keyId);
    moveToEnd(projects, projectId);
    return remove(item);
  }

  return {
    size: () => size,
    values: function* () {
      for (const keys of projects.values()) for (const items of keys.values()) yield* items;
    },
    remove,
    add: (item) => {
      const { projectId, keyId } = ownerOf(item);
      const keys: Keys<T> = projects.get(projectId) ?? new Map();
      const items = keys.get(keyId) ?? new Set();
      projects.set(projectId, keys.set(keyId, items.add(item)));
      size += 1;
    },
    peek,
    take,
    next: (holds) => {
      const item = peek(holds);
      if (item !== undefined) take(item);
      return item;
    },
    newestOfLargest: ({ projectId, keyId }, isRefusable) => {
      const refusable = (items: Iterable<T>) => [...items].filter(isRefusable);
      const count = (keys: Keys<T>) => [...keys.values()].reduce((sum, items) => sum + refusable(items).length, 0);
      const keys = largest(projects, projectId, count);
      const items = keys && largest(keys, keyId, (of) => refusable(of).length);
      return items && refusable(items).at(-1);
    },
  };
}

function largest<Key, Value>(
  map: Map<Key, Value>,
  preferred: Key,
  sizeOf: (value: Value) => number,
): Value | undefined {
  const first = map.get(preferred);
  let [found, most] = [first, first === undefined ? 0 : sizeOf(first)];
  for (const value of map.values()) {
    const size = sizeOf(value);
    if (size > most) [found, most] = [value, size];
  }
  return found;
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

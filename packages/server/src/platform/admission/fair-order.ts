import type { Owner } from './owner.ts';
import type { Shares } from './share-counts.ts';

/**
 * The waiting entries, by project and key. The next entry belongs to the project with the fewest permits, and to its key with the fewest;
 * projects and keys with equal counts are served in turn. The entries of one key are first in, first out.
 */
export interface FairOrder<T> {
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
  const projects = new Map<string, Keys<T>>();
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

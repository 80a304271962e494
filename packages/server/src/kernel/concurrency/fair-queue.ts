export interface Owner {
  readonly projectId: string;
  /** null when the caller has no API key. */
  readonly keyId: string | null;
}

/**
 * A queue that serves projects in round-robin order and, within a project, its keys likewise. The items of one key are first in,
 * first out.
 */
export interface FairQueue<T> {
  add(item: T): void;
  /** @returns false when the item is not in the queue */
  remove(item: T): boolean;
  /** Removes and returns the next item; undefined when the queue is empty. */
  next(): T | undefined;
}

export function createFairQueue<T>(ownerOf: (item: T) => Owner): FairQueue<T> {
  /** Projects, their keys, and the items of each key, in the order in which they are served. No collection is empty. */
  const projects = new Map<string, Map<string | null, Set<T>>>();

  function remove(item: T): boolean {
    const { projectId, keyId } = ownerOf(item);
    const keys = projects.get(projectId);
    const items = keys?.get(keyId);
    if (keys === undefined || items?.delete(item) !== true) return false;
    if (items.size === 0) keys.delete(keyId);
    if (keys.size === 0) projects.delete(projectId);
    return true;
  }

  return {
    remove,
    add: (item) => {
      const { projectId, keyId } = ownerOf(item);
      const keys = projects.get(projectId) ?? new Map<string | null, Set<T>>();
      const items = keys.get(keyId) ?? new Set();
      projects.set(projectId, keys.set(keyId, items.add(item)));
    },
    next: () => {
      const [project] = projects;
      const [key] = project?.[1] ?? [];
      if (project === undefined || key === undefined) return undefined;
      const [[projectId, keys], [keyId, items]] = [project, key];
      const [item] = items;
      if (item === undefined) return undefined;
      moveToEnd(keys, keyId);
      moveToEnd(projects, projectId);
      remove(item);
      return item;
    },
  };
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

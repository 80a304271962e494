/** Delays writers of a collection whose segments are added faster than they are merged. */
export interface MergeBacklog {
  /** Counts a segment that a writer adds. @returns the number of segments since the last merge began */
  added(collectionId: string): number;
  /** Called before a collection is merged. Segments that are added from now on count again. */
  begins(collectionId: string): void;
  /** Called after an attempt to merge a collection, also after a failed one. Its writers continue. */
  ended(collectionId: string): void;
  /** Lets all writers continue, because no merge may come. */
  release(): void;
  /** Waits for the next attempt to merge the collection when too many segments were added since the last one began. */
  untilMerged(collectionId: string): Promise<void>;
}

/** Number of segments that are added to a collection before its writers wait. */
export const mostAdded = 100;

export function createMergeBacklog(onWait: () => void): MergeBacklog {
  const added = new Map<string, number>();
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  return {
    added(collectionId) {
      const count = (added.get(collectionId) ?? 0) + 1;
      added.set(collectionId, count);
      return count;
    },
    begins(collectionId) {
      added.delete(collectionId);
    },
    ended(collectionId) {
      waiting.get(collectionId)?.resolve();
      waiting.delete(collectionId);
    },
    release() {
      for (const { resolve } of waiting.values()) resolve();
      waiting.clear();
    },
    async untilMerged(collectionId) {
      if ((added.get(collectionId) ?? 0) < mostAdded) return;
      onWait();
      const known = waiting.get(collectionId) ?? Promise.withResolvers<void>();
      waiting.set(collectionId, known);
      await known.promise;
    },
  };
}

import type { Statistics } from '../../search/search-index.ts';

/**
 * Caches how many chunks contain the common words that a search skips, because these counts are the most expensive and
 * are requested often. An entry is valid while the collection has the same numbers of chunks and words. A change that
 * keeps both numbers can leave a count slightly wrong, which affects only the small weight of a skipped word.
 */
export interface CommonWords {
  /** Returns the map from word to number of chunks. The caller reads it and adds to it. */
  of(collectionId: string, statistics: Statistics): Map<string, number>;
  forget(collectionId: string): void;
}

interface Known extends Statistics {
  readonly counts: Map<string, number>;
}

/** The cache holds the `mostCollections` that were used last, with at most `mostWords` each. */
export function createCommonWords(mostCollections = 200, mostWords = 1000): CommonWords {
  const collections = new Map<string, Known>();
  return {
    of(collectionId, { chunks, words }) {
      const known = collections.get(collectionId);
      const holds = known?.chunks === chunks && known.words === words && known.counts.size < mostWords;
      const counts = holds ? known.counts : new Map<string, number>();
      // A Map keeps the order of insertion.
      collections.delete(collectionId);
      collections.set(collectionId, { chunks, words, counts });
      for (const oldest of collections.keys()) {
        if (collections.size <= mostCollections) break;
        collections.delete(oldest);
      }
      return counts;
    },
    forget: (collectionId) => void collections.delete(collectionId),
  };
}

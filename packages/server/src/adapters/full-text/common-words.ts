import type { Statistics } from './bm25.ts';

/**
 * How many chunks have the words that were left out of matches: they are the dearest to count and are asked again and
 * again. They hold as long as the collection has the same number of chunks and words; one that was changed without that
 * may be weighed by a count that is a little off, in the share of the score that such a word could have had.
 */
export interface CommonWords {
  /** Word → chunks, to be read and added to. */
  of(collectionId: string, statistics: Statistics): Map<string, number>;
  forget(collectionId: string): void;
}

interface Known extends Statistics {
  readonly counts: Map<string, number>;
}

/** `mostCollections` are remembered, those asked last; of each `mostWords`. */
export function createCommonWords(mostCollections = 200, mostWords = 1000): CommonWords {
  const collections = new Map<string, Known>();
  return {
    of(collectionId, { chunks, words }) {
      const known = collections.get(collectionId);
      const holds = known?.chunks === chunks && known.words === words && known.counts.size < mostWords;
      const counts = holds ? known.counts : new Map<string, number>();
      // A Map remembers the order of insertion.
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

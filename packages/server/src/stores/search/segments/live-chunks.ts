import type { SegmentChunks } from './segment-format.ts';

/** The chunks of a segment that no later segment removes. */
export interface LiveChunks {
  /** A bit for each removed chunk; null when none is removed. */
  readonly removed: Uint8Array | null;
  /** Number of live chunks. */
  readonly chunks: number;
  /** Number of words in the live chunks, including repeats. */
  readonly words: number;
  /**
   * Removes the chunks with these seqs, in ascending order. Other seqs are ignored.
   * @param onFound receives the place in `seqs` of each chunk of the segment, also of one that was removed before
   */
  remove(seqs: Float64Array, onFound?: (place: number) => void): void;
}

export function createLiveChunks({ seqs, lengths }: SegmentChunks): LiveChunks {
  let removed: Uint8Array | null = null;
  let chunks = seqs.length;
  let words = lengths.reduce((sum, length) => sum + length, 0);
  return {
    get removed() {
      return removed;
    },
    get chunks() {
      return chunks;
    },
    get words() {
      return words;
    },
    remove(wanted, onFound) {
      let from = 0;
      for (let place = 0; place < wanted.length && from < seqs.length; place++) {
        from = findPlace(seqs, wanted[place] as number, from);
        if (seqs[from] !== wanted[place]) continue;
        onFound?.(place);
        removed ??= new Uint8Array(Math.ceil(seqs.length / 8));
        if (isRemoved(removed, from)) continue;
        removed[from >>> 3] = (removed[from >>> 3] as number) | (1 << (from & 7));
        chunks--;
        words -= lengths[from] as number;
      }
    },
  };
}

export function isRemoved(removed: Uint8Array, chunk: number): boolean {
  return ((removed[chunk >>> 3] as number) & (1 << (chunk & 7))) !== 0;
}

/** Returns whether one of the chunks from `from` to before `to` is removed. */
export function hasRemoved(removed: Uint8Array, from: number, to: number): boolean {
  for (let chunk = from; chunk < to; ) {
    if ((chunk & 7) === 0 && removed[chunk >>> 3] === 0) chunk += 8;
    else if (isRemoved(removed, chunk)) return true;
    else chunk++;
  }
  return false;
}

/** Returns the first place from `from` on whose seq is not less than the wanted one. */
export function findPlace(seqs: Float64Array, wanted: number, from: number): number {
  let low = from;
  let high = seqs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seqs[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Thrown by a store that does not have a page or header at hand. The caller gets it and repeats the question. */
export class NotAtHand extends Error {
  override readonly name = 'NotAtHand';
  constructor() {
    super('a page of a segment is not at hand');
  }
}

/** Maps all items also when pages of some are not at hand, so that the store learns of all of them. */
export function mapAll<Item, Result>(items: readonly Item[], map: (item: Item, place: number) => Result): Result[] {
  const results: Result[] = [];
  let missing: NotAtHand | undefined;
  for (const [place, item] of items.entries()) {
    try {
      results.push(map(item, place));
    } catch (error) {
      if (!(error instanceof NotAtHand)) throw error;
      missing = error;
    }
  }
  if (missing !== undefined) throw missing;
  return results;
}

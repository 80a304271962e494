import type { RankedChunk } from '../chunk-index.ts';

/** Collects the best chunks: higher scores first, lower seqs first among equal scores. */
export interface BestChunks {
  /** A chunk with a lower score cannot be among the best; `least` while there are fewer than wanted. */
  readonly threshold: number;
  add(seq: number, score: number): void;
  /** Returns the chunks, best first, with the scores as they were added. */
  list(): RankedChunk[];
}

/** @param least a score that is known to be at most that of the worst; -1 when none is known */
export function createBestChunks(wanted: number, least: number): BestChunks {
  const best: RankedChunk[] = [];
  return {
    get threshold() {
      return best.length < wanted ? least : Math.max(least, best.at(-1)?.score ?? least);
    },
    add(seq, score) {
      let [low, high] = [0, best.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        const other = best[middle] as RankedChunk;
        if (other.score > score || (other.score === score && other.seq < seq)) low = middle + 1;
        else high = middle;
      }
      if (low === wanted) return;
      best.splice(low, 0, { seq, score });
      if (best.length > wanted) best.pop();
    },
    list: () => best,
  };
}

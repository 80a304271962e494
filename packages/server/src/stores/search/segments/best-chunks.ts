import type { RankedChunk } from '../chunk-index.ts';

/** Collects the best chunks: higher scores first, lower seqs first among equal scores. */
export interface BestChunks {
  /** A chunk with a lower score cannot be among the best; `least` while there are fewer than wanted. */
  readonly threshold: number;
  add(seq: number, score: number): void;
  /** Returns the chunks, best first, with the scores as they were added. */
  list(): RankedChunk[];
}

/**
 * A binary heap whose root is the worst of the best.
 * @param least a score that is known to be at most that of the worst; -1 when none is known
 */
export function createBestChunks(wanted: number, least: number): BestChunks {
  const seqs: number[] = [];
  const scores: number[] = [];

  function isWorse(a: number, b: number): boolean {
    const difference = (scores[a] as number) - (scores[b] as number);
    return difference === 0 ? (seqs[a] as number) > (seqs[b] as number) : difference < 0;
  }
  function swap(a: number, b: number): void {
    [seqs[a], seqs[b]] = [seqs[b] as number, seqs[a] as number];
    [scores[a], scores[b]] = [scores[b] as number, scores[a] as number];
  }
  function moveUp(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!isWorse(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  }
  function moveDown(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= seqs.length) return;
      const worse = left + 1 < seqs.length && isWorse(left + 1, left) ? left + 1 : left;
      if (!isWorse(worse, at)) return;
      swap(worse, at);
      at = worse;
    }
  }
  return {
    get threshold() {
      return seqs.length < wanted ? least : Math.max(least, scores[0] as number);
    },
    add(seq, score) {
      if (seqs.length < wanted) {
        seqs.push(seq);
        scores.push(score);
        moveUp(seqs.length - 1);
        return;
      }
      const worst = scores[0] as number;
      if (score < worst || (score === worst && seq > (seqs[0] as number))) return;
      seqs[0] = seq;
      scores[0] = score;
      moveDown();
    },
    list() {
      const found = seqs.map((seq, at) => ({ seq, score: scores[at] as number }));
      return found.sort((a, b) => b.score - a.score || a.seq - b.seq);
    },
  };
}

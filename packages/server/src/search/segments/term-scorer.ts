import type { PostingArrays } from './segment-format.ts';
import { largestBlock, type PostingList } from './segment-reader.ts';

/** A term of a question, and the two parts of the formula that are the same for all terms. */
export interface ScoreFormula {
  /** This term's share of the highest possible score, in score units. */
  readonly weight: number;
  readonly base: number;
  readonly perWord: number;
}

/** The score of a posting, in whole units. The order of the operations is part of the result. */
export function scorePosting({ weight, base, perWord }: ScoreFormula, repeats: number, length: number): number {
  return Math.trunc((weight * repeats) / (repeats + base + perWord * length));
}

/** A term's postings in one segment, read forward. */
export interface TermScorer {
  /** No posting from `from` to before `to` scores more. Blocks before `from` are discarded. */
  boundWindow(from: number, to: number): number;
  /** Adds the scores of the postings from `from` to before `to` to `scores[chunk - from]`, and marks these places. */
  addWindow(window: ScoreWindow): void;
  /** Returns the score of a chunk; 0 when it lacks the term. Chunks are asked in ascending order. */
  scoreOf(chunk: number): number;
}

/** The scores of the chunks from `from` to before `to`. */
export interface ScoreWindow {
  from: number;
  to: number;
  readonly scores: Int32Array;
  /** 1 for each chunk that has a term. A posting may score 0. */
  readonly marks: Uint8Array;
}

export function createTermScorer(list: PostingList, formula: ScoreFormula, lengths: Uint16Array): TermScorer {
  const { last, blocks } = list;
  const { weight, base, perWord } = formula;
  const bounds = boundBlocks(list, formula);
  const postings: PostingArrays = { chunks: new Int32Array(largestBlock), repeats: new Uint8Array(largestBlock) };
  const { chunks, repeats } = postings;
  /** The first block that may have a chunk that is still of interest. */
  let block = 0;
  let decoded = -1;
  let count = 0;
  let place = 0;

  function decode(wanted: number): void {
    if (decoded === wanted) return;
    count = list.decode(wanted, postings);
    decoded = wanted;
    place = 0;
  }
  function skipTo(chunk: number): void {
    while (block < blocks && (last[block] as number) < chunk) block++;
  }
  return {
    boundWindow(from, to) {
      skipTo(from);
      let most = 0;
      for (let at = block; at < blocks; at++) {
        most = Math.max(most, bounds[at] as number);
        if ((last[at] as number) >= to - 1) break;
      }
      return most;
    },
    addWindow({ from, to, scores, marks }) {
      for (; block < blocks; block++) {
        decode(block);
        while (place < count && (chunks[place] as number) < from) place++;
        for (; place < count; place++) {
          const chunk = chunks[place] as number;
          if (chunk >= to) return;
          const times = repeats[place] as number;
          const at = chunk - from;
          scores[at] =
            (scores[at] as number) +
            Math.trunc((weight * times) / (times + base + perWord * (lengths[chunk] as number)));
          marks[at] = 1;
        }
      }
    },
    scoreOf(chunk) {
      skipTo(chunk);
      if (block === blocks) return 0;
      decode(block);
      while ((chunks[place] as number) < chunk) place++;
      if (chunks[place] !== chunk) return 0;
      return scorePosting(formula, repeats[place] as number, lengths[chunk] as number);
    },
  };
}

/** One more than each block's highest score, so that rounding cannot make a bound too low. */
function boundBlocks({ blocks, pairStarts, pairs }: PostingList, formula: ScoreFormula): Float64Array {
  const bounds = new Float64Array(blocks);
  for (let block = 0; block < blocks; block++) {
    const end = pairStarts[block + 1] as number;
    let most = 0;
    for (let at = pairStarts[block] as number; at < end; at += 2) {
      most = Math.max(most, scorePosting(formula, pairs[at] as number, pairs[at + 1] as number));
    }
    bounds[block] = most + 1;
  }
  return bounds;
}

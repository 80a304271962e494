import type { PostingArrays } from './segment-format.ts';
import { largestBlock, type PostingList } from './segment-reader.ts';

/** A term of a question, and the two parts of the formula that are the same for all terms. */
export interface ScoreFormula {
  /** This term's share of the highest possible score, in score units. */
  readonly weight: number;
  /** What each posting scores besides, in score units. Default: 0. */
  readonly floor?: number;
  readonly base: number;
  readonly perWord: number;
}

/** The score of a posting, in whole units. The order of the operations is part of the result. */
export function scorePosting(
  { weight, floor = 0, base, perWord }: ScoreFormula,
  repeats: number,
  length: number,
): number {
  return Math.trunc(floor + (weight * repeats) / (repeats + base + perWord * length));
}

/** A term's postings in one segment, read forward: chunks and windows are asked in ascending order. */
export interface TermScorer {
  /** No posting from `from` to before `to` scores more. Blocks before `from` are discarded. */
  boundWindow(from: number, to: number): number;
  /**
   * Adds the scores of the window's postings, and marks their chunks. Blocks that cannot score `least` are left out.
   */
  addWindow(window: ScoreWindow, least: number): void;
  /** No chunk of the block that may have this chunk scores more. The block is not decoded. */
  boundChunk(chunk: number): number;
  /** Returns the score of a chunk; 0 when it lacks the term. */
  scoreChunk(chunk: number): number;
}

/** The scores of the chunks from `from` to before `to`. */
export interface ScoreWindow {
  from: number;
  to: number;
  /** The score of each chunk, by its distance from `from`. */
  readonly scores: Int32Array;
  /** A bit for each chunk that has a term, 32 in each number. A posting may score 0. */
  readonly marks: Int32Array;
}

/** The memory of a scorer. A later scorer may use it when the one before is no longer needed. */
export interface ScorerMemory {
  readonly postings: PostingArrays;
  /** A bound for each block of the list. */
  readonly bounds: Float64Array;
}

/** Scorers of lists with at most this number of blocks may use the memory in turn. */
function createScorerMemory(blocks: number): ScorerMemory {
  const postings = { chunks: new Int32Array(largestBlock), repeats: new Uint8Array(largestBlock) };
  return { postings, bounds: new Float64Array(blocks) };
}

/** Number of terms whose memory is kept for later questions. */
const keptTerms = 32;
const kept: ScorerMemory[] = [];

/**
 * Returns the memory of a term for the duration of a ranking. It is used again, because a thread ranks one question at a
 * time, and its creation takes longer than the ranking of a small collection.
 * @param term the number of the term in its question
 */
export function takeScorerMemory(term: number, blocks: number): ScorerMemory {
  const known = kept[term];
  if (known !== undefined && known.bounds.length >= blocks) return known;
  const memory = createScorerMemory(Math.max(blocks, 2 * (known?.bounds.length ?? 0)));
  if (term < keptTerms) kept[term] = memory;
  return memory;
}

export interface ScoredList {
  readonly list: PostingList;
  /** The lengths of the chunks of the segment. */
  readonly lengths: Uint16Array;
}

export function createTermScorer(
  { list, lengths }: ScoredList,
  formula: ScoreFormula,
  { postings, bounds }: ScorerMemory,
): TermScorer {
  const { last, blocks } = list;
  const { weight, floor = 0, base, perWord } = formula;
  const { chunks, repeats } = postings;
  boundBlocks(list, formula, bounds);
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
    addWindow({ from, to, scores, marks }, least) {
      for (; block < blocks; block++) {
        if ((bounds[block] as number) < least) {
          if ((last[block] as number) >= to) return;
          continue;
        }
        decode(block);
        while (place < count && (chunks[place] as number) < from) place++;
        for (; place < count; place++) {
          const chunk = chunks[place] as number;
          if (chunk >= to) return;
          const times = repeats[place] as number;
          const at = chunk - from;
          scores[at] =
            (scores[at] as number) +
            Math.trunc(floor + (weight * times) / (times + base + perWord * (lengths[chunk] as number)));
          marks[at >>> 5] = (marks[at >>> 5] as number) | (1 << (at & 31));
        }
      }
    },
    boundChunk(chunk) {
      skipTo(chunk);
      return block < blocks ? (bounds[block] as number) : 0;
    },
    scoreChunk(chunk) {
      skipTo(chunk);
      if (block === blocks) return 0;
      decode(block);
      while ((chunks[place] as number) < chunk) place++;
      if (chunks[place] !== chunk) return 0;
      return scorePosting(formula, repeats[place] as number, lengths[chunk] as number);
    },
  };
}

/** Sets each bound to one more than the block's highest score, so that rounding cannot make it too low. */
function boundBlocks({ blocks, pairStarts, pairs }: PostingList, formula: ScoreFormula, bounds: Float64Array): void {
  for (let block = 0; block < blocks; block++) {
    const end = pairStarts[block + 1] as number;
    let most = 0;
    for (let at = pairStarts[block] as number; at < end; at += 2) {
      most = Math.max(most, scorePosting(formula, pairs[at] as number, pairs[at + 1] as number));
    }
    bounds[block] = most + 1;
  }
}

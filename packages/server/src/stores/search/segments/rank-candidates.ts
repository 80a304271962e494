import type { BestChunks } from './best-chunks.ts';
import { isRemoved } from './live-chunks.ts';
import type { PostingArrays, SegmentChunks } from './segment-format.ts';
import { largestBlock, type PostingList } from './segment-reader.ts';
import { type ScoreFormula, scorePosting } from './term-scorer.ts';

/** What is known of the candidates of a segment. */
export interface CandidateSegment {
  readonly chunks: SegmentChunks;
  /** A bit for each removed chunk; null when none is removed. */
  readonly removed: Uint8Array | null;
  /** The postings of each term of the question; undefined for a term that the segment lacks. */
  readonly lists: ReadonlyArray<PostingList | undefined>;
}

export interface CandidateOptions {
  /** How each term scores, in the order of the lists. */
  readonly formulas: readonly ScoreFormula[];
  readonly checkpoint?: () => void;
}

/** A segment with a larger share of candidates is ranked as a whole, because its bounds then skip more. */
const largestShare = 1 / 8;

interface DividedSegments {
  /** Segments to rank as a whole. Chunks that are not candidates count as removed. */
  readonly whole: readonly CandidateSegment[];
  /** Segments with so few candidates that reading only the blocks with one of them is faster. */
  readonly restricted: ReadonlyArray<{ readonly segment: CandidateSegment; readonly candidates: Int32Array }>;
}

/** Divides segments by their share of candidates, which are null when all chunks are. */
export function divideSegments(
  segments: ReadonlyArray<CandidateSegment & { readonly candidates: Int32Array | null }>,
): DividedSegments {
  const whole: CandidateSegment[] = [];
  const restricted: Array<{ segment: CandidateSegment; candidates: Int32Array }> = [];
  for (const { candidates, ...segment } of segments) {
    const count = segment.chunks.seqs.length;
    if (candidates === null) whole.push(segment);
    else if (candidates.length <= count * largestShare) restricted.push({ segment, candidates });
    else whole.push({ ...segment, removed: excludeOthers(candidates, count, segment.removed) });
  }
  return { whole, restricted };
}

/** Adds the candidates of a segment that have any of the terms. Blocks of postings without a candidate are not decoded. */
export function rankCandidates(
  { chunks, removed, lists }: CandidateSegment,
  candidates: Int32Array,
  { options, best }: { options: CandidateOptions; best: BestChunks },
): void {
  const scores = new Int32Array(candidates.length);
  const marks = new Uint8Array(candidates.length);
  for (const [place, list] of lists.entries()) {
    options.checkpoint?.();
    const formula = options.formulas[place] as ScoreFormula;
    if (list !== undefined) addScores(list, { candidates, scores, marks, formula, lengths: chunks.lengths });
  }
  for (let at = marks.indexOf(1); at >= 0; at = marks.indexOf(1, at + 1)) {
    const chunk = candidates[at] as number;
    if ((scores[at] as number) < best.threshold || (removed !== null && isRemoved(removed, chunk))) continue;
    best.add(chunks.seqs[chunk] as number, scores[at] as number);
  }
}

interface CandidateScores {
  readonly candidates: Int32Array;
  readonly scores: Int32Array;
  /** 1 for each candidate that has a term. A posting may score 0. */
  readonly marks: Uint8Array;
  readonly formula: ScoreFormula;
  readonly lengths: Uint16Array;
}

function addScores(list: PostingList, { candidates, scores, marks, formula, lengths }: CandidateScores): void {
  const { chunks, repeats }: PostingArrays = {
    chunks: new Int32Array(largestBlock),
    repeats: new Uint8Array(largestBlock),
  };
  let at = 0;
  for (let block = 0; block < list.blocks && at < candidates.length; block++) {
    const last = list.last[block] as number;
    if ((candidates[at] as number) > last) continue;
    const count = list.decode(block, { chunks, repeats });
    for (let place = 0; at < candidates.length && (candidates[at] as number) <= last; at++) {
      const chunk = candidates[at] as number;
      while (place < count && (chunks[place] as number) < chunk) place++;
      if (chunks[place] !== chunk || place === count) continue;
      const score = scorePosting(formula, repeats[place] as number, lengths[chunk] as number);
      scores[at] = (scores[at] as number) + score;
      marks[at] = 1;
    }
  }
}

/** Returns the removed chunks together with all that are not candidates, as bits. */
function excludeOthers(candidates: Int32Array, chunks: number, removed: Uint8Array | null): Uint8Array {
  const excluded = new Uint8Array(Math.ceil(chunks / 8)).fill(255);
  for (const chunk of candidates) {
    if (removed !== null && isRemoved(removed, chunk)) continue;
    excluded[chunk >>> 3] = (excluded[chunk >>> 3] as number) & ~(1 << (chunk & 7));
  }
  return excluded;
}

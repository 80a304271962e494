import type { RankedChunk } from '../chunk-index.ts';
import { type BestChunks, createBestChunks } from './best-chunks.ts';
import { isRemoved } from './live-chunks.ts';
import type { PostingArrays, SegmentChunks } from './segment-format.ts';
import { largestBlock, type PostingList } from './segment-reader.ts';
import {
  createTermScorer,
  type ScoreFormula,
  type ScorerMemory,
  type ScoreWindow,
  scorePosting,
  type TermScorer,
  takeScorerMemory,
} from './term-scorer.ts';

/** A segment as a question sees it. */
export interface RankedSegment extends CandidateSegment {
  /** The only chunks to rank, by their numbers, in ascending order; null for all. */
  readonly candidates: Int32Array | null;
}

export interface RankOptions extends CandidateOptions {
  /** Number of chunks to return. */
  readonly count: number;
  /** Called before each window of chunks. It throws when the question has ended. */
  readonly checkpoint?: () => void;
}

/** Number of chunks whose scores are added up together. */
const windowSize = 4096;

/** The window of all rankings of a thread, which follow one another. */
const window: ScoreWindow = {
  from: 0,
  to: 0,
  scores: new Int32Array(windowSize),
  marks: new Int32Array(windowSize / 32),
};

/** Rare terms are those that together have at most this share of the postings of the question. */
const rareShare = 1 / 16;

/**
 * Returns the best chunks that have any of the terms, with the sums of their scores. This is MaxScore over windows of
 * chunks: in each window, the terms that together cannot reach the threshold are not read, except for chunks that have
 * another term. A first pass ranks by the rare terms alone. Its worst score is a threshold for the second pass from the
 * start, because no chunk loses by its other terms.
 */
export function rankSegments(segments: readonly RankedSegment[], options: RankOptions): RankedChunk[] {
  const { whole, restricted } = divideSegments(segments);
  // A high threshold from the largest segment lets the others skip more.
  const ordered = whole.toSorted((a, b) => b.chunks.seqs.length - a.chunks.seqs.length);
  // A ranking that has failed may have left scores behind.
  window.scores.fill(0);
  window.marks.fill(0);
  const terms = openTerms(whole, options);
  const rank = (wanted: readonly RankedTerm[], least: number) => {
    const best = createBestChunks(options.count, least);
    for (const segment of ordered) rankSegment(segment, { terms: wanted, options, best });
    return best;
  };
  const rare = findRare(terms);
  const least = rare.length === 0 ? -1 : rank(rare, -1).threshold;
  const best = rank(terms, least);
  for (const { segment, candidates } of restricted) rankCandidates(segment, candidates, { options, best });
  return best.list();
}

/** A term of a question, in all segments. */
interface RankedTerm {
  /** Its place in the lists of each segment. */
  readonly place: number;
  readonly formula: ScoreFormula;
  /** Number of its postings. */
  readonly count: number;
  readonly memory: ScorerMemory;
}

/** Returns the terms that a segment has, those with a high weight first. */
function openTerms(segments: readonly CandidateSegment[], { formulas }: RankOptions): RankedTerm[] {
  const terms = formulas.map((formula, place) => {
    const lists = segments.flatMap(({ lists }) => lists[place] ?? []);
    const count = lists.reduce((sum, list) => sum + list.count, 0);
    const blocks = lists.reduce((most, list) => Math.max(most, list.blocks), 0);
    return { place, formula, count, memory: takeScorerMemory(place, blocks) };
  });
  return terms.filter(({ count }) => count > 0).sort((a, b) => b.formula.weight - a.formula.weight);
}

function findRare(terms: readonly RankedTerm[]): readonly RankedTerm[] {
  let left = terms.reduce((sum, { count }) => sum + count, 0) * rareShare;
  const rare: RankedTerm[] = [];
  for (const term of terms) {
    left -= term.count;
    if (left < 0) break;
    rare.push(term);
  }
  return rare;
}

interface Ranking {
  readonly terms: readonly RankedTerm[];
  readonly options: RankOptions;
  readonly best: BestChunks;
}

interface BoundedScorer {
  readonly scorer: TermScorer;
  /** The bound of the current window. */
  bound: number;
  /** The sum of the bounds from this scorer to the last. */
  rest: number;
}

function rankSegment(segment: CandidateSegment, { terms, options, best }: Ranking): void {
  const { seqs, lengths } = segment.chunks;
  const scorers: BoundedScorer[] = [];
  for (const { place, formula, memory } of terms) {
    const list = segment.lists[place];
    if (list !== undefined)
      scorers.push({ scorer: createTermScorer({ list, lengths }, formula, memory), bound: 0, rest: 0 });
  }
  for (window.from = 0; window.from < seqs.length && scorers.length > 0; window.from = window.to) {
    options.checkpoint?.();
    window.to = Math.min(window.from + windowSize, seqs.length);
    for (const each of scorers) each.bound = each.scorer.boundWindow(window.from, window.to);
    scorers.sort((a, b) => b.bound - a.bound);
    rankWindow(segment, scorers, best);
  }
}

/** @param scorers those with a high bound first */
function rankWindow(segment: CandidateSegment, scorers: readonly BoundedScorer[], best: BestChunks): void {
  const { threshold } = best;
  let highest = 0;
  for (const each of scorers.toReversed()) {
    highest += each.bound;
    each.rest = highest;
  }
  let essential = 0;
  for (const { scorer, bound, rest } of scorers) {
    if (rest < threshold || bound === 0) break;
    scorer.addWindow(window, threshold - (highest - bound));
    essential++;
  }
  if (essential > 0) addCandidates(segment, scorers.slice(essential), best);
}

/**
 * Adds the marked chunks to the best ones, and clears the window.
 * @param others the scorers whose postings are not in the window
 */
function addCandidates(
  { chunks, removed }: CandidateSegment,
  others: readonly BoundedScorer[],
  best: BestChunks,
): void {
  const { from, scores, marks } = window;
  const rest = others[0]?.rest ?? 0;
  let { threshold } = best;
  for (let word = 0; word < marks.length; word++) {
    let bits = marks[word] as number;
    marks[word] = 0;
    for (; bits !== 0; bits &= bits - 1) {
      const place = word * 32 + 31 - Math.clz32(bits & -bits);
      const known = scores[place] as number;
      scores[place] = 0;
      if (known + rest < threshold) continue;
      const chunk = from + place;
      const score = known + scoreRest(chunk, others, threshold - known);
      if (score < threshold || (removed !== null && isRemoved(removed, chunk))) continue;
      best.add(chunks.seqs[chunk] as number, score);
      threshold = best.threshold;
    }
  }
}

/** Sums the scores of a chunk while the sum can reach `least`. Returns a lower sum otherwise. */
function scoreRest(chunk: number, scorers: readonly BoundedScorer[], least: number): number {
  let score = 0;
  for (let at = 0; at < scorers.length; at++) {
    const { scorer, rest, bound } = scorers[at] as BoundedScorer;
    if (score + rest < least) return score;
    if (score + scorer.boundChunk(chunk) + (rest - bound) < least) return score;
    score += scorer.scoreChunk(chunk);
  }
  return score;
}

/** What is known of the candidates of a segment. */
interface CandidateSegment {
  readonly chunks: SegmentChunks;
  /** A bit for each removed chunk; null when none is removed. */
  readonly removed: Uint8Array | null;
  /** The postings of each term of the question; undefined for a term that the segment lacks. */
  readonly lists: ReadonlyArray<PostingList | undefined>;
}

interface CandidateOptions {
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
function divideSegments(
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
function rankCandidates(
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

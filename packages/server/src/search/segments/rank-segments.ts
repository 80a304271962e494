import type { RankedChunk } from '../chunk-index.ts';
import { type BestChunks, createBestChunks } from './best-chunks.ts';
import { isRemoved } from './live-chunks.ts';
import type { SegmentChunks } from './segment-format.ts';
import type { PostingList } from './segment-reader.ts';
import { createTermScorer, type ScoreFormula, type ScoreWindow, type TermScorer } from './term-scorer.ts';

/** A segment as a question sees it. */
export interface RankedSegment {
  readonly chunks: SegmentChunks;
  /** A bit for each removed chunk; null when none is removed. */
  readonly removed: Uint8Array | null;
  /** The postings of each term of the question; undefined for a term that the segment lacks. */
  readonly lists: ReadonlyArray<PostingList | undefined>;
}

export interface RankOptions {
  /** The weight of each term, in the order of the lists. */
  readonly weights: readonly number[];
  readonly base: number;
  readonly perWord: number;
  /** Number of chunks to return. */
  readonly count: number;
  /** Called before each window of chunks. It throws when the question has ended. */
  readonly checkpoint?: () => void;
}

/** Number of chunks whose scores are added up together. */
const windowSize = 4096;

/**
 * Returns the best chunks that have any of the terms, with the sums of their scores. This is MaxScore over windows of
 * chunks: in each window, the terms that together cannot reach the threshold are not read, except for chunks that have
 * another term.
 */
export function rankSegments(segments: readonly RankedSegment[], options: RankOptions): RankedChunk[] {
  const best = createBestChunks(options.count);
  const window: ScoreWindow = { from: 0, to: 0, scores: new Int32Array(windowSize), marks: new Uint8Array(windowSize) };
  // A high threshold from the largest segment lets the others skip more.
  const ordered = [...segments].sort((a, b) => b.chunks.seqs.length - a.chunks.seqs.length);
  for (const segment of ordered) rankSegment(segment, { options, window, best });
  return best.list();
}

interface Ranking {
  readonly options: RankOptions;
  readonly window: ScoreWindow;
  readonly best: BestChunks;
}

interface BoundedScorer {
  readonly scorer: TermScorer;
  /** The bound of the current window. */
  bound: number;
}

function rankSegment(segment: RankedSegment, { options, window, best }: Ranking): void {
  const { seqs, lengths } = segment.chunks;
  const scorers: BoundedScorer[] = [];
  for (const [place, weight] of options.weights.entries()) {
    const list = segment.lists[place];
    const formula: ScoreFormula = { weight, base: options.base, perWord: options.perWord };
    if (list !== undefined) scorers.push({ scorer: createTermScorer(list, formula, lengths), bound: 0 });
  }
  for (window.from = 0; window.from < seqs.length && scorers.length > 0; window.from = window.to) {
    options.checkpoint?.();
    window.to = Math.min(window.from + windowSize, seqs.length);
    for (const each of scorers) each.bound = each.scorer.boundWindow(window.from, window.to);
    scorers.sort((a, b) => b.bound - a.bound);
    rankWindow(segment, scorers, { window, best });
  }
}

function rankWindow(
  segment: RankedSegment,
  scorers: readonly BoundedScorer[],
  { window, best }: { window: ScoreWindow; best: BestChunks },
): void {
  /** The sum of the bounds from each scorer to the last. */
  const rest = new Float64Array(scorers.length + 1);
  for (let at = scorers.length - 1; at >= 0; at--)
    rest[at] = (rest[at + 1] as number) + (scorers[at] as BoundedScorer).bound;
  let essential = 0;
  while (
    essential < scorers.length &&
    (rest[essential] as number) >= best.threshold &&
    (scorers[essential] as BoundedScorer).bound > 0
  )
    essential++;
  if (essential === 0) return;
  for (const { scorer } of scorers.slice(0, essential)) scorer.addWindow(window);
  const { from, to, scores, marks } = window;
  for (let at = essential; at < scorers.length; at++) {
    const { scorer, bound } = scorers[at] as BoundedScorer;
    if (bound === 0) break;
    const least = best.threshold - (rest[at] as number);
    for (let place = marks.indexOf(1); place >= 0; place = marks.indexOf(1, place + 1)) {
      if ((scores[place] as number) < least) marks[place] = 0;
      else scores[place] = (scores[place] as number) + scorer.scoreOf(from + place);
    }
  }
  addToBest(segment, window, best);
  scores.fill(0, 0, to - from);
  marks.fill(0, 0, to - from);
}

function addToBest({ chunks, removed }: RankedSegment, window: ScoreWindow, best: BestChunks): void {
  const { seqs } = chunks;
  const { from, to, scores, marks } = window;
  for (let place = 0; place < to - from; place++) {
    if (marks[place] === 0 || (scores[place] as number) < best.threshold) continue;
    const chunk = from + place;
    if (removed !== null && isRemoved(removed, chunk)) continue;
    best.add(seqs[chunk] as number, scores[place] as number);
  }
}

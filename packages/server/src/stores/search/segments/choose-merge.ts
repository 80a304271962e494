/** The size of a segment, which its row gives without reading a page. */
export interface SegmentSize {
  readonly chunks: number;
  readonly removals: number;
}

/** Neighbouring segments, from the first to before the last place. */
export interface MergeRange {
  readonly from: number;
  readonly to: number;
}

/** The minimum number of neighbouring segments of similar size that a merge takes. */
export const leastParts = 8;
/**
 * The same minimum for large segments. Each merge of a chunk costs processor time, but a few more segments cost a question less
 * than a tenth of a millisecond. An import of 100,000 chunks merges each of them once instead of three times.
 */
const leastLargeParts = 16;
/** A merge is large if its largest segment has this many chunks and removals. */
const large = 512;
/** The maximum number of segments of one merge, which bounds its memory. */
const mostMerged = 64;
/** From this number of removals on, a collection is merged as a whole when they exceed a third of its chunks. */
const manyRemovals = 1000;

/**
 * Chooses neighbouring segments to merge, or undefined when there are few. Segments are grouped in levels by size, each
 * eight times as large as the one below, so that a chunk is merged at most about once for each level.
 */
export function chooseMerge(segments: readonly SegmentSize[]): MergeRange | undefined {
  const sizes = segments.map(({ chunks, removals }) => chunks + removals);
  const removals = segments.reduce((sum, segment) => sum + segment.removals, 0);
  const chunks = segments.reduce((sum, segment) => sum + segment.chunks, 0);
  if (removals >= manyRemovals && removals * 3 > chunks && segments.length <= mostMerged) {
    return { from: 0, to: segments.length };
  }
  const levels = sizes.map(levelOf);
  for (const level of [...new Set(levels)].sort((a, b) => a - b)) {
    let from = 0;
    for (let to = 0; to <= levels.length; to++) {
      const isWithin = to < levels.length && (levels[to] as number) <= level;
      if (isWithin && to - from < mostMerged) continue;
      if (isWorthMerging(sizes.slice(from, to))) return { from, to };
      from = isWithin ? to : to + 1;
    }
  }
  return undefined;
}

/** A large segment is not merged again and again with a few small ones. */
function isWorthMerging(sizes: readonly number[]): boolean {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const largest = Math.max(...sizes);
  if (largest < large) return sizes.length >= leastParts && total >= 2 * largest;
  return sizes.length >= leastLargeParts && total >= leastParts * largest;
}

function levelOf(size: number): number {
  return Math.floor(Math.log2(Math.max(size, 1)) / Math.log2(leastParts));
}

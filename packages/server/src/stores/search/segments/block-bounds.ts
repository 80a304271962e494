import type { PostingArrays } from './segment-format.ts';

/*
 * The score of a posting grows with its repeats and falls with the length of its chunk. A posting therefore scores at
 * most as much as a pair (repeats, length) that has no fewer repeats and no greater length. Such pairs bound a block for
 * all statistics that the collection will ever have.
 */

/** The maximum number of pairs that bound a block. */
export const mostPairs = 4;

/**
 * Returns pairs, as repeats and length in turn, such that each posting of the range is dominated by one of them. They
 * are in ascending order of both.
 */
export function boundBlock(
  postings: PostingArrays,
  range: { from: number; to: number },
  lengths: Uint16Array,
): number[] {
  const pairs = findUndominated(postings, range, lengths);
  while (pairs.length > 2 * mostPairs) mergeClosest(pairs);
  return pairs;
}

/** Returns the pairs of postings that no other posting dominates, in ascending order. */
function findUndominated(
  { chunks, repeats }: PostingArrays,
  { from, to }: { from: number; to: number },
  lengths: Uint16Array,
): number[] {
  const shortest = new Map<number, number>();
  for (let at = from; at < to; at++) {
    const times = repeats[at] as number;
    const length = lengths[chunks[at] as number] as number;
    const known = shortest.get(times);
    if (known === undefined || length < known) shortest.set(times, length);
  }
  const pairs: number[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const times of [...shortest.keys()].sort((a, b) => b - a)) {
    const length = shortest.get(times) as number;
    if (length >= least) continue;
    least = length;
    pairs.push(length, times);
  }
  return pairs.reverse();
}

/** Replaces the two neighbours whose common bound is the least loose by that bound. */
function mergeClosest(pairs: number[]): void {
  let closest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at + 3 < pairs.length; at += 2) {
    const [times = 1, length = 1, moreTimes = 1, greaterLength = 1] = pairs.slice(at, at + 4);
    const looseness = moreTimes / times + greaterLength / Math.max(length, 1);
    if (looseness >= least) continue;
    least = looseness;
    closest = at;
  }
  const length = pairs[closest + 1] as number;
  const times = pairs[closest + 2] as number;
  pairs.splice(closest, 4, times, length);
}

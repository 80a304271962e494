import { DamagedSegment, mostLength } from './segment-format.ts';
import type { ReadPage, SegmentHeader } from './segment-reader.ts';
import { readTerms } from './segment-terms.ts';
import { isFilterTerm } from './term-kinds.ts';
import { compareTerms } from './term-order.ts';

/** Sums of a segment that its row and its pages must agree on. */
export interface SegmentSums {
  readonly chunks: number;
  readonly postings: number;
}

/**
 * Reads a whole segment: chunks and terms must be in order, postings must be in order and name chunks of the segment,
 * and no chunk may have more words in its postings than its length, unless that is cut.
 * @throws DamagedSegment for the first error
 */
export function checkSegment(header: SegmentHeader, readPage: ReadPage): SegmentSums {
  const { seqs, lengths } = header;
  const words = new Float64Array(seqs.length);
  for (let at = 1; at < seqs.length; at++) {
    if ((seqs[at - 1] as number) >= (seqs[at] as number)) throw new DamagedSegment('the chunks are not in order');
  }
  let postings = 0;
  let previous: Uint8Array | undefined;
  for (const { term, count, postings: list } of readTerms(header, readPage)) {
    if (previous !== undefined && compareTerms(previous, term) >= 0)
      throw new DamagedSegment('the terms are not in order');
    previous = term;
    const isWord = !isFilterTerm(term);
    let last = -1;
    for (let at = 0; at < count; at++) {
      const chunk = list.chunks[at] as number;
      if (chunk <= last || chunk >= seqs.length)
        throw new DamagedSegment(`the chunks of a term are not in order, or not in the segment`);
      if (list.repeats[at] === 0) throw new DamagedSegment('a posting has no repeats');
      if (isWord) words[chunk] = (words[chunk] as number) + (list.repeats[at] as number);
      last = chunk;
    }
    postings += count;
  }
  for (const [chunk, sum] of words.entries()) {
    const length = lengths[chunk] as number;
    if (sum > length && length < mostLength) throw new DamagedSegment('a chunk has more words than its length');
  }
  return { chunks: seqs.length, postings };
}

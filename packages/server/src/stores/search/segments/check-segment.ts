import { isFilterTerm } from '../analysis/term-kinds.ts';
import { compareTerms, DamagedSegment, mostLength, mostRepeats } from './segment-format.ts';
import { decodeHeader, type ReadPage, type SegmentHeader } from './segment-reader.ts';
import { readTerms, type TermPostings } from './segment-terms.ts';
import { createSegmentWriter } from './segment-writer.ts';

export interface CheckedSegment {
  readonly header: SegmentHeader;
  readonly postings: number;
  /** Number of pages. */
  readonly pages: number;
}

/**
 * Reads a whole segment. Its bytes must agree with its checksums, chunks and terms must be in order, and the repeats of
 * the words of a chunk must add up to its length. The segment is then written again and compared byte by byte, so that
 * bounds, counts and places are also those of its postings.
 * @throws DamagedSegment for the first error
 */
export function checkSegment(bytes: Uint8Array, readPage: ReadPage): CheckedSegment {
  const header = decodeHeader(bytes);
  checkOrder(header.seqs, 'chunks');
  checkOrder(header.removals, 'removals');
  const words = createWordCounts(header);
  const writer = createSegmentWriter(header, [...header.removals]);
  const comparePages = createPageComparison(readPage);
  let postings = 0;
  let previous: Uint8Array | undefined;
  for (const read of readTerms(header, readPage)) {
    if (previous !== undefined && compareTerms(previous, read.term) >= 0)
      throw new DamagedSegment('the terms are not in order');
    previous = read.term;
    checkPostings(read, header.seqs.length);
    words.add(read);
    writer.add(read.term, read.postings, read.count);
    comparePages(writer.takePages());
    postings += read.count;
  }
  words.check();
  const written = writer.end();
  const pages = comparePages(writer.takePages());
  compareHeaders(bytes, written);
  return { header, postings, pages };
}

function checkOrder(seqs: Float64Array, name: string): void {
  for (let at = 1; at < seqs.length; at++) {
    if ((seqs[at - 1] as number) >= (seqs[at] as number)) throw new DamagedSegment(`the ${name} are not in order`);
  }
}

function checkPostings({ postings, count }: TermPostings, chunks: number): void {
  if (count === 0) throw new DamagedSegment('a term has no postings');
  let last = -1;
  for (let at = 0; at < count; at++) {
    const chunk = postings.chunks[at] as number;
    if (chunk <= last || chunk >= chunks)
      throw new DamagedSegment('the chunks of a term are not in order, or not in the segment');
    if (postings.repeats[at] === 0) throw new DamagedSegment('a posting has no repeats');
    last = chunk;
  }
}

/** Adds up the repeats of the words of each chunk. */
function createWordCounts({ seqs, lengths }: SegmentHeader) {
  const words = new Float64Array(seqs.length);
  /** Whether a chunk may have more words than its postings say. */
  const areCut = new Uint8Array(seqs.length);
  return {
    add({ term, postings, count }: TermPostings): void {
      if (isFilterTerm(term)) return;
      for (let at = 0; at < count; at++) {
        const chunk = postings.chunks[at] as number;
        const repeats = postings.repeats[at] as number;
        words[chunk] = (words[chunk] as number) + repeats;
        if (repeats === mostRepeats) areCut[chunk] = 1;
      }
    },
    check(): void {
      for (const [chunk, sum] of words.entries()) {
        const length = lengths[chunk] as number;
        if (sum > length && length < mostLength) throw new DamagedSegment('a chunk has more words than its length');
        if (sum < length && areCut[chunk] === 0) throw new DamagedSegment('a chunk has fewer words than its length');
      }
    },
  };
}

/**
 * Compares written pages with the stored ones, in the order of their numbers. Each call returns the number of pages that
 * were compared so far.
 */
function createPageComparison(readPage: ReadPage): (pages: readonly Uint8Array[]) => number {
  let number = 0;
  return (pages) => {
    for (const page of pages) {
      if (Buffer.compare(page, readPage(number)) !== 0)
        throw new DamagedSegment(`page ${number} is not what its postings and terms give`);
      number++;
    }
    return number;
  };
}

function compareHeaders(stored: Uint8Array, written: Uint8Array): void {
  if (Buffer.compare(stored, written) !== 0)
    throw new DamagedSegment('the header is not what its chunks, terms and pages give');
}

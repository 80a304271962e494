import { isDeleted, type OpenSegment } from './rank-segments.ts';
import type { PostingArrays, SegmentChunks } from './segment-format.ts';
import { readTerms, type TermPostings } from './segment-terms.ts';
import { createSegmentWriter } from './segment-writer.ts';

/** The number in the merged segment of each chunk of a part; -1 for a deleted chunk. */
type ChunkNumbers = Int32Array;

/**
 * Merges segments without their deleted chunks. Yields the pages of the new segment in order, so that the caller can
 * store them in pieces, and returns its header; undefined when all chunks are deleted.
 */
export function* mergeSegments(
  parts: readonly OpenSegment[],
): Generator<Uint8Array, Uint8Array | undefined, undefined> {
  const { chunks, numbers } = mergeChunks(parts);
  if (chunks.seqs.length === 0) return undefined;
  const writer = createSegmentWriter(chunks);
  const readers = parts.map(({ header, readPage }, place) => ({
    terms: readTerms(header, readPage),
    numbers: numbers[place] as ChunkNumbers,
  }));
  const merged: PostingArrays = {
    chunks: new Int32Array(chunks.seqs.length),
    repeats: new Uint8Array(chunks.seqs.length),
  };
  const current = readers.map(({ terms }) => nextTerm(terms));
  for (let term = lowestTerm(current); term !== undefined; term = lowestTerm(current)) {
    let count = 0;
    let sources = 0;
    for (const [place, found] of current.entries()) {
      if (found?.term !== term) continue;
      const { terms, numbers } = readers[place] as (typeof readers)[number];
      count = appendLive(found, numbers, { merged, count });
      sources++;
      current[place] = nextTerm(terms);
    }
    if (count === 0) continue;
    if (sources > 1) sortPostings(merged, count);
    writer.add(term, merged, count);
    yield* writer.takePages();
  }
  const header = writer.end();
  yield* writer.takePages();
  return header;
}

function nextTerm(terms: Generator<TermPostings, void, undefined>): TermPostings | undefined {
  const { value, done } = terms.next();
  return done === true ? undefined : (value as TermPostings);
}

function lowestTerm(current: ReadonlyArray<TermPostings | undefined>): string | undefined {
  let lowest: string | undefined;
  for (const found of current)
    if (found !== undefined && (lowest === undefined || found.term < lowest)) lowest = found.term;
  return lowest;
}

/** Gives the remaining chunks new numbers, in the order of their seqs. */
function mergeChunks(parts: readonly OpenSegment[]): { chunks: SegmentChunks; numbers: ChunkNumbers[] } {
  const live: Array<{ part: number; chunk: number; seq: number }> = [];
  for (const [part, { header, deleted }] of parts.entries()) {
    for (const [chunk, seq] of header.seqs.entries()) {
      if (deleted === null || !isDeleted(deleted, chunk)) live.push({ part, chunk, seq });
    }
  }
  live.sort((a, b) => a.seq - b.seq);
  const numbers = parts.map(({ header }) => new Int32Array(header.seqs.length).fill(-1));
  const seqs = new Float64Array(live.length);
  const lengths = new Uint16Array(live.length);
  for (const [number, { part, chunk, seq }] of live.entries()) {
    (numbers[part] as ChunkNumbers)[chunk] = number;
    seqs[number] = seq;
    lengths[number] = (parts[part] as OpenSegment).header.lengths[chunk] as number;
  }
  return { chunks: { seqs, lengths }, numbers };
}

function appendLive(
  { postings, count: read }: TermPostings,
  numbers: ChunkNumbers,
  { merged, count }: { merged: PostingArrays; count: number },
): number {
  let end = count;
  for (let at = 0; at < read; at++) {
    const number = numbers[postings.chunks[at] as number] as number;
    if (number < 0) continue;
    merged.chunks[end] = number;
    merged.repeats[end] = postings.repeats[at] as number;
    end++;
  }
  return end;
}

/** Sorts the first postings by chunk. They are in order already when the parts follow one another. */
function sortPostings({ chunks, repeats }: PostingArrays, count: number): void {
  let isSorted = true;
  for (let at = 1; at < count && isSorted; at++) isSorted = (chunks[at - 1] as number) < (chunks[at] as number);
  if (isSorted) return;
  // The chunk in the high bits and the repeats in the low byte sort together.
  const both = new Float64Array(count);
  for (let at = 0; at < count; at++) both[at] = (chunks[at] as number) * 256 + (repeats[at] as number);
  both.sort();
  for (let at = 0; at < count; at++) {
    const value = both[at] as number;
    chunks[at] = Math.floor(value / 256);
    repeats[at] = value % 256;
  }
}

import { createLiveChunks, isRemoved, type LiveChunks } from './live-chunks.ts';
import type { PostingArrays, SegmentChunks } from './segment-format.ts';
import type { ReadPage, SegmentHeader } from './segment-reader.ts';
import { readTerms, type TermPostings } from './segment-terms.ts';
import { createSegmentWriter } from './segment-writer.ts';

/** A segment whose pages can be read. */
export interface OpenSegment {
  readonly header: SegmentHeader;
  readonly readPage: ReadPage;
}

export interface MergeOptions {
  /** True when no segment precedes the merged ones, so that a removal without its chunk is no longer needed. */
  readonly areFirst: boolean;
}

/** The header of the merged segment. Both numbers are 0 when nothing is left, and then no segment is needed. */
export interface MergedSegment {
  readonly header: Uint8Array;
  readonly chunks: number;
  readonly removals: number;
}

/** The number in the merged segment of each chunk of a part; -1 for a removed chunk. */
type ChunkNumbers = Int32Array;

/**
 * Merges neighbouring segments, in their order, without the chunks that one of them removes. Yields the pages of the
 * new segment in order, so that the caller can store them in pieces. Removals of chunks in earlier segments are kept.
 */
export function* mergeSegments(
  parts: readonly OpenSegment[],
  { areFirst }: MergeOptions,
): Generator<Uint8Array, MergedSegment, undefined> {
  const { live, removals } = applyRemovals(parts);
  const kept = areFirst ? [] : removals;
  const { chunks, numbers } = mergeChunks(parts, live);
  const writer = createSegmentWriter(chunks, kept);
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
  return { header, chunks: chunks.seqs.length, removals: kept.length };
}

/** Applies the removals of each part to the parts before it. `removals` are those that none of them contains. */
function applyRemovals(parts: readonly OpenSegment[]): { live: LiveChunks[]; removals: number[] } {
  const live: LiveChunks[] = [];
  const rest = new Set<number>();
  for (const { header } of parts) {
    const found = new Uint8Array(header.removals.length);
    for (const earlier of live) earlier.remove(header.removals, (place) => found.fill(1, place, place + 1));
    for (const [place, seq] of header.removals.entries()) if (found[place] === 0) rest.add(seq);
    live.push(createLiveChunks(header));
  }
  return { live, removals: [...rest].sort((a, b) => a - b) };
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

/** Gives the live chunks new numbers, in the order of their seqs. */
function mergeChunks(parts: readonly OpenSegment[], live: readonly LiveChunks[]) {
  const remaining: Array<{ part: number; chunk: number; seq: number }> = [];
  for (const [part, { header }] of parts.entries()) {
    const removed = live[part]?.removed ?? null;
    for (const [chunk, seq] of header.seqs.entries()) {
      if (removed === null || !isRemoved(removed, chunk)) remaining.push({ part, chunk, seq });
    }
  }
  remaining.sort((a, b) => a.seq - b.seq);
  const numbers = parts.map(({ header }) => new Int32Array(header.seqs.length).fill(-1));
  const seqs = new Float64Array(remaining.length);
  const lengths = new Uint16Array(remaining.length);
  for (const [number, { part, chunk, seq }] of remaining.entries()) {
    (numbers[part] as ChunkNumbers)[chunk] = number;
    seqs[number] = seq;
    lengths[number] = (parts[part] as OpenSegment).header.lengths[chunk] as number;
  }
  const chunks: SegmentChunks = { seqs, lengths };
  return { chunks, numbers };
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

import { createLiveChunks, isRemoved, type LiveChunks } from './live-chunks.ts';
import type { PostingArrays, SegmentChunks } from './segment-format.ts';
import { compareTerms } from './segment-format.ts';
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
  const merged: PostingArrays = {
    chunks: new Int32Array(chunks.seqs.length),
    repeats: new Uint8Array(chunks.seqs.length),
  };
  let sources = parts.flatMap(({ header, readPage }, part) =>
    nextTerm({ terms: readTerms(header, readPage), numbers: numbers[part] as ChunkNumbers }),
  );
  while (sources.length > 0) {
    const { term } = sources.reduce((low, each) =>
      compareTerms(each.current.term, low.current.term) < 0 ? each : low,
    ).current;
    const having = new Set(sources.filter(({ current }) => compareTerms(current.term, term) === 0));
    let count = 0;
    for (const { current, numbers: ofPart } of having) count = appendLive(current, ofPart, { merged, count });
    sources = sources.flatMap((source) => (having.has(source) ? nextTerm(source) : source));
    if (count === 0) continue;
    if (having.size > 1) sortPostings(merged, count);
    writer.add(term, merged, count);
    yield* writer.takePages();
  }
  const header = writer.end();
  yield* writer.takePages();
  return { header, chunks: chunks.seqs.length, removals: kept.length };
}

interface TermSource {
  readonly terms: Generator<TermPostings, void, undefined>;
  readonly numbers: ChunkNumbers;
}

/** Returns a source with its next term; no source at the end. */
function nextTerm({ terms, numbers }: TermSource): Array<TermSource & { readonly current: TermPostings }> {
  const { value } = terms.next();
  return value === undefined ? [] : [{ terms, numbers, current: value }];
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

/** Gives the live chunks new numbers, in the order of their seqs. */
function mergeChunks(parts: readonly OpenSegment[], live: readonly LiveChunks[]) {
  const numbers = parts.map(({ header }) => new Int32Array(header.seqs.length).fill(-1));
  const remaining = listRemaining(parts, live);
  const order = sortedPlaces(remaining.seqs);
  const seqs = new Float64Array(order.length);
  const lengths = new Uint16Array(order.length);
  for (const [number, place] of order.entries()) {
    const part = remaining.parts[place] as number;
    const chunk = remaining.chunks[place] as number;
    (numbers[part] as ChunkNumbers)[chunk] = number;
    seqs[number] = remaining.seqs[place] as number;
    lengths[number] = (parts[part] as OpenSegment).header.lengths[chunk] as number;
  }
  const haveFilterTerms = parts.every(({ header }) => header.seqs.length === 0 || header.haveFilterTerms);
  const chunks: SegmentChunks = { seqs, lengths, haveFilterTerms };
  return { chunks, numbers };
}

/** Returns the part, the number and the seq of each live chunk. */
function listRemaining(parts: readonly OpenSegment[], live: readonly LiveChunks[]) {
  const count = live.reduce((sum, { chunks }) => sum + chunks, 0);
  const listed = { parts: new Uint16Array(count), chunks: new Int32Array(count), seqs: new Float64Array(count) };
  let place = 0;
  for (const [part, { header }] of parts.entries()) {
    const removed = live[part]?.removed ?? null;
    for (let chunk = 0; chunk < header.seqs.length; chunk++) {
      if (removed !== null && isRemoved(removed, chunk)) continue;
      listed.parts[place] = part;
      listed.chunks[place] = chunk;
      listed.seqs[place++] = header.seqs[chunk] as number;
    }
  }
  return listed;
}

/** Returns the places of the seqs in their order. They are in order already when the parts follow one another. */
function sortedPlaces(seqs: Float64Array): Int32Array {
  const places = Int32Array.from(seqs, (_, place) => place);
  let isSorted = true;
  for (let at = 1; at < seqs.length && isSorted; at++) isSorted = (seqs[at - 1] as number) < (seqs[at] as number);
  return isSorted ? places : places.sort((a, b) => (seqs[a] as number) - (seqs[b] as number));
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

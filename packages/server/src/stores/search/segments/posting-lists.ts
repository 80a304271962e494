import { blockSize, blocksPerPage, blocksPerSkipPage, DamagedSegment, type PostingArrays } from './segment-format.ts';
import { type ByteCursor, type ByteWriter, readVarint } from './varints.ts';

/** A range of postings, and the chunk before the first of them (-1 at the start of a list). */
export interface PostingRange {
  readonly from: number;
  readonly to: number;
  readonly previous: number;
}

export function encodePostings(
  writer: ByteWriter,
  { chunks, repeats }: PostingArrays,
  { from, to, previous }: PostingRange,
): void {
  let last = previous;
  for (let at = from; at < to; at++) {
    const chunk = chunks[at] as number;
    const times = repeats[at] as number;
    writer.writeVarint((chunk - last) * 2 + (times === 1 ? 0 : 1));
    if (times !== 1) writer.writeVarint(times);
    last = chunk;
  }
}

/** Decodes `count` postings into the first places of the arrays. */
export function decodePostings(
  cursor: ByteCursor,
  target: PostingArrays,
  { count, previous }: { count: number; previous: number },
): void {
  const { bytes } = cursor;
  const { chunks, repeats } = target;
  let { at } = cursor;
  let last = previous;
  for (let place = 0; place < count; place++) {
    let code = bytes[at++] as number;
    // The same as `readVarint`, without the cursor: most of the time of a question is spent here.
    for (let shift = 7, byte = code; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0;
      code = (code & ((1 << shift) - 1)) + ((byte & 0x7f) << shift);
    }
    last += code >>> 1;
    chunks[place] = last;
    // Repeats of 128 to 255 take two bytes.
    if ((code & 1) === 0) repeats[place] = 1;
    else {
      const times = bytes[at++] as number;
      repeats[place] = times < 0x80 ? times : (times & 0x7f) + (bytes[at++] as number) * 0x80;
    }
  }
  cursor.at = at;
}

/** The blocks of a long list as pages: first the skip pages, then the blocks. */
export function encodeLongList(
  writer: ByteWriter,
  postings: PostingArrays,
  { count, lengths }: { count: number; lengths: Uint16Array },
): Uint8Array[] {
  const sizes: number[] = [];
  const blockPages: Uint8Array[] = [];
  for (let from = 0; from < count; from += blockSize) {
    const before = writer.length;
    const previous = from === 0 ? -1 : (postings.chunks[from - 1] as number);
    encodePostings(writer, postings, { from, to: Math.min(from + blockSize, count), previous });
    sizes.push(writer.length - before);
    if (sizes.length % blocksPerPage === 0) blockPages.push(writer.take());
  }
  if (writer.length > 0) blockPages.push(writer.take());
  const skipPages: Uint8Array[] = [];
  for (const [block, size] of sizes.entries()) {
    const from = block * blockSize;
    const to = Math.min(from + blockSize, count);
    const previous = from === 0 ? -1 : (postings.chunks[from - 1] as number);
    const pairs = boundBlock(postings, { from, to }, lengths);
    writer.writeVarint((postings.chunks[to - 1] as number) - previous);
    writer.writeVarint(size);
    writer.writeVarint(pairs.length / 2);
    for (const number of pairs) writer.writeVarint(number);
    if ((block + 1) % blocksPerSkipPage === 0) skipPages.push(writer.take());
  }
  if (writer.length > 0) skipPages.push(writer.take());
  return [...skipPages, ...blockPages];
}

/** The entry of the skip pages for each block of a list. */
export interface SkipTable {
  /** The last chunk of each block. */
  readonly last: Int32Array;
  /** Where each block begins within its page. */
  readonly offsets: Int32Array;
  /** Where the pairs of each block begin in `pairs`; one more entry than blocks. */
  readonly pairStarts: Int32Array;
  /** Repeats and length in turn. */
  readonly pairs: readonly number[];
}

export function decodeSkipPages(pages: readonly Uint8Array[], blocks: number): SkipTable {
  const last = new Int32Array(blocks);
  const offsets = new Int32Array(blocks);
  const pairStarts = new Int32Array(blocks + 1);
  const pairs: number[] = [];
  let chunk = -1;
  let offset = 0;
  let cursor: ByteCursor = { bytes: new Uint8Array(0), at: 0 };
  for (let block = 0; block < blocks; block++) {
    if (block % blocksPerSkipPage === 0) cursor = { bytes: pages[block / blocksPerSkipPage] as Uint8Array, at: 0 };
    if (block % blocksPerPage === 0) offset = 0;
    chunk += readVarint(cursor);
    last[block] = chunk;
    offsets[block] = offset;
    offset += readVarint(cursor);
    const count = readVarint(cursor);
    if (count > mostPairs) throw new DamagedSegment(`a block has ${count} bounds; at most ${mostPairs} are allowed`);
    for (let left = 2 * count; left > 0; left--) pairs.push(readVarint(cursor));
    pairStarts[block + 1] = pairs.length;
  }
  return { last, offsets, pairStarts, pairs };
}

/*
 * The score of a posting grows with its repeats and falls with the length of its chunk. A posting therefore scores at
 * most as much as a pair (repeats, length) that has no fewer repeats and no greater length. Such pairs bound a block for
 * all statistics that the collection will ever have.
 */

/** The maximum number of pairs that bound a block. */
const mostPairs = 4;

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

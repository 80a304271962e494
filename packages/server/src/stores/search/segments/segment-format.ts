/*
 * A segment is an immutable index of some chunks of one collection, or a list of chunks that have left the index, or
 * both. It consists of a header and numbered pages. The segments of a collection have an order: the removals of a
 * segment apply to all segments before it. A chunk can therefore leave the index and be added again.
 *
 * Chunks are numbered from 0 within their segment, in the order of their seqs. A posting says that a term occurs in a
 * chunk, and how often. A posting is the distance to the previous chunk's number, times two, plus one if a varint with
 * the number of repeats follows; without it, the term occurs once. The first posting of a list counts from -1.
 *
 * A dictionary page lists terms in order. An entry is: the bytes shared with the entry before, the number of further
 * bytes and these bytes (UTF-8), and the number of chunks with the term. A list of up to `mostInlinePostings` follows in
 * place, after its size in bytes. A longer list follows in pages of its own, and the entry has the number of the first.
 *
 * A long list is divided into blocks of `blockSize` postings. Its first pages are skip pages. They hold, for each block,
 * the distance to the last chunk of the block, the size of the block in bytes, and the bounds of the block (see
 * `posting-lists.ts`). Its other pages hold the blocks.
 *
 * The first character of a term says its kind, such as a word or a filter term (see `term-kinds.ts`).
 *
 * The header holds the version of the format, the number of chunks, their seqs as distances, their lengths in words,
 * for each dictionary page its number and its first term, and the seqs of the removed chunks as distances. It ends with
 * the number of pages, the CRC-32 of each page, and the CRC-32 of all bytes before.
 */

/** The versions of segments without and with filter terms. */
export const formatVersions = { plain: 4, filtered: 5 } as const;

export const blockSize = 128;
export const blocksPerPage = 32;
export const blocksPerSkipPage = 256;
export const mostInlinePostings = 256;

/** Maximum size of a dictionary page in bytes. A row of this size fits into one page of SQLite. */
export const dictionaryPageSize = 3900;

/** Larger repeats and lengths are stored as these. */
export const mostRepeats = 255;
export const mostLength = 65_535;

/** The chunks of a segment, by their numbers. */
export interface SegmentChunks {
  readonly seqs: Float64Array;
  /** Number of words of each chunk, including repeats. */
  readonly lengths: Uint16Array;
  /** Whether all filter terms of each chunk are among its terms. */
  readonly haveFilterTerms: boolean;
}

/** A list of postings that has been decoded: `count` chunks in ascending order, and the repeats in each. */
export interface PostingArrays {
  readonly chunks: Int32Array;
  readonly repeats: Uint8Array;
}

/** Returns the number of skip pages before the blocks of a long list. */
export function countSkipPages(blocks: number): number {
  return Math.ceil(blocks / blocksPerSkipPage);
}

/** A page or header that the format does not allow. Rebuilding the collection's index repairs it. */
export class DamagedSegment extends Error {
  override readonly name = 'DamagedSegment';
}

const pageMissing = 'a page of the search index is missing';

/** A listed segment or one of its pages no longer exists. */
export class PageMissing extends DamagedSegment {
  constructor() {
    super(pageMissing);
  }
}

/** Compares the message, because an error of another thread arrives without its class. */
export function isPageMissing(error: unknown): boolean {
  return error instanceof Error && error.message === pageMissing;
}

/*
 * Terms are in JavaScript's order of strings, which compares UTF-16 code units. It differs from the order of the UTF-8
 * bytes in one case: characters above U+FFFF, whose first byte is F0 to F4, come before U+E000 to U+FFFF (EE and EF).
 */

/** Moves the first bytes F0 to F4 before EE and EF, and leaves the order of all other bytes as it is. */
function toOrder(byte: number): number {
  if (byte < 0xee) return byte;
  return byte < 0xf0 ? byte + 5 : byte - 2;
}

/** Compares two terms in UTF-8. Returns a negative number, 0 or a positive number. */
export function compareTerms(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return toOrder(a[at] as number) - toOrder(b[at] as number);
  }
  return a.length - b.length;
}

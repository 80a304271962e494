import { crc32 } from 'node:zlib';
import { boundBlock, decodePostings, decodeSkipPages } from './posting-lists.ts';
import {
  blockSize,
  blocksPerPage,
  countSkipPages,
  DamagedSegment,
  formatVersions,
  mostInlinePostings,
  type PostingArrays,
  type SegmentChunks,
} from './segment-format.ts';
import { type ByteCursor, readVarint } from './varints.ts';

/**
 * Returns a page of a segment by its number.
 * @param ahead number of pages from this one on that are likely to be read soon
 */
export type ReadPage = (number: number, ahead?: number) => Uint8Array;

export interface SegmentHeader extends SegmentChunks {
  readonly dictionaryPages: readonly number[];
  readonly firstTerms: readonly string[];
  /** The seqs of the chunks that leave the segments before this one, in ascending order. */
  readonly removals: Float64Array;
  /** The CRC-32 of each page. */
  readonly checksums: Uint32Array;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** @throws DamagedSegment when the bytes are not a header of this version of the format */
export function decodeHeader(bytes: Uint8Array): SegmentHeader {
  const cursor: ByteCursor = { bytes, at: 0 };
  const version = readVarint(cursor);
  const haveFilterTerms = version === formatVersions.filtered;
  if (!haveFilterTerms && version !== formatVersions.plain)
    throw new DamagedSegment(`the format ${version} is unknown`);
  const seqs = readSeqs(cursor);
  const lengths = new Uint16Array(seqs.length);
  for (let at = 0; at < seqs.length; at++) lengths[at] = readVarint(cursor);
  const dictionaryPages: number[] = [];
  const firstTerms: string[] = [];
  for (let left = readVarint(cursor); left > 0 && cursor.at < bytes.length; left--) {
    dictionaryPages.push(readVarint(cursor));
    const size = readVarint(cursor);
    firstTerms.push(decoder.decode(bytes.subarray(cursor.at, cursor.at + size)));
    cursor.at += size;
  }
  const removals = readSeqs(cursor);
  const checksums = readChecksums(cursor);
  if (cursor.at !== bytes.length) throw new DamagedSegment('the header does not end where it should');
  return { seqs, lengths, haveFilterTerms, dictionaryPages, firstTerms, removals, checksums };
}

/** Reads the checksums of the pages, and compares that of the header with its bytes. */
function readChecksums(cursor: ByteCursor): Uint32Array {
  const count = readVarint(cursor);
  if (count > cursor.bytes.length) throw new DamagedSegment('the header is too short for its pages');
  const checksums = new Uint32Array(count);
  for (let at = 0; at < count; at++) checksums[at] = readVarint(cursor);
  const end = cursor.at;
  if (readVarint(cursor) !== crc32(cursor.bytes.subarray(0, end)))
    throw new DamagedSegment('the checksum of the header does not agree with its bytes');
  return checksums;
}

function readSeqs(cursor: ByteCursor): Float64Array {
  const count = readVarint(cursor);
  if (count > cursor.bytes.length) throw new DamagedSegment('the header is too short for its chunks');
  const seqs = new Float64Array(count);
  let seq = 0;
  for (let at = 0; at < count; at++) {
    seq += readVarint(cursor);
    seqs[at] = seq;
  }
  return seqs;
}

/** The postings of one term in one segment, divided into blocks. */
export interface PostingList {
  /** Number of chunks with the term, deleted ones included. */
  readonly count: number;
  readonly blocks: number;
  /** The last chunk of each block. */
  readonly last: Int32Array;
  /** Where the pairs of each block begin in `pairs`; one more entry than blocks. */
  readonly pairStarts: Int32Array;
  /** Repeats and length in turn: the bounds of the blocks. */
  readonly pairs: readonly number[];
  /** Decodes a block into the arrays and returns the number of its postings. */
  decode(block: number, target: PostingArrays): number;
}

/** The maximum number of postings of a block. A short list is one block. */
export const largestBlock = Math.max(blockSize, mostInlinePostings);

/** Finds a term. Reads one dictionary page, and the skip pages of a long list. */
export function findTerm(header: SegmentHeader, readPage: ReadPage, term: string): PostingList | undefined {
  const place = findDictionaryPage(header.firstTerms, term);
  if (place < 0) return undefined;
  const entry = findEntry(readPage(header.dictionaryPages[place] as number), encoder.encode(term));
  return entry === undefined ? undefined : openPostingList(entry, header.lengths, readPage);
}

/** Returns the place of the last page whose first term is not greater than the term; -1 when there is none. */
export function findDictionaryPage(firstTerms: readonly string[], term: string): number {
  let low = 0;
  let high = firstTerms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((firstTerms[middle] as string) <= term) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** An entry of a dictionary page. The cursor points to the postings of a short list. */
export interface DictionaryEntry {
  readonly count: number;
  /** Size of a short list in bytes, or the number of the first page of a long one. */
  readonly sizeOrPage: number;
  readonly cursor: ByteCursor;
}

function findEntry(page: Uint8Array, wanted: Uint8Array): DictionaryEntry | undefined {
  const cursor: ByteCursor = { bytes: page, at: 0 };
  /** Number of leading bytes of the wanted term that the current entry has. */
  let matching = 0;
  while (cursor.at < page.length) {
    const shared = readVarint(cursor);
    const size = readVarint(cursor);
    if (shared <= matching) {
      matching = shared;
      while (
        matching - shared < size &&
        matching < wanted.length &&
        page[cursor.at + matching - shared] === wanted[matching]
      )
        matching++;
    }
    const isWanted = matching === wanted.length && shared + size === wanted.length;
    cursor.at += size;
    const count = readVarint(cursor);
    const sizeOrPage = readVarint(cursor);
    if (isWanted) return { count, sizeOrPage, cursor };
    if (count <= mostInlinePostings) cursor.at += sizeOrPage;
  }
  return undefined;
}

export function openPostingList(entry: DictionaryEntry, lengths: Uint16Array, readPage: ReadPage): PostingList {
  return entry.count <= mostInlinePostings ? openShortList(entry, lengths) : openLongList(entry, readPage);
}

function openShortList({ count, cursor }: DictionaryEntry, lengths: Uint16Array): PostingList {
  const postings: PostingArrays = { chunks: new Int32Array(count), repeats: new Uint8Array(count) };
  decodePostings(cursor, postings, { count, previous: -1 });
  const pairs = boundBlock(postings, { from: 0, to: count }, lengths);
  return {
    count,
    blocks: 1,
    last: postings.chunks.slice(count - 1),
    pairStarts: Int32Array.of(0, pairs.length),
    pairs,
    decode(_, target) {
      target.chunks.set(postings.chunks);
      target.repeats.set(postings.repeats);
      return count;
    },
  };
}

function openLongList({ count, sizeOrPage: firstPage }: DictionaryEntry, readPage: ReadPage): PostingList {
  const blocks = Math.ceil(count / blockSize);
  const skipPages = countSkipPages(blocks);
  const end = firstPage + skipPages + Math.ceil(blocks / blocksPerPage);
  const skips = Array.from({ length: skipPages }, (_, place) => readPage(firstPage + place, end - firstPage - place));
  const { last, offsets, pairStarts, pairs } = decodeSkipPages(skips, blocks);
  const firstBlockPage = firstPage + skipPages;
  let openPage = -1;
  let bytes: Uint8Array = new Uint8Array(0);
  return {
    count,
    blocks,
    last,
    pairStarts,
    pairs,
    decode(block, target) {
      const page = firstBlockPage + Math.floor(block / blocksPerPage);
      if (page !== openPage) bytes = readPage(page, end - page);
      openPage = page;
      const inBlock = block === blocks - 1 ? count - block * blockSize : blockSize;
      const previous = block === 0 ? -1 : (last[block - 1] as number);
      decodePostings({ bytes, at: offsets[block] as number }, target, { count: inBlock, previous });
      return inBlock;
    },
  };
}

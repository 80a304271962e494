import { crc32 } from 'node:zlib';
import { encodeLongList, encodePostings } from './posting-lists.ts';
import {
  dictionaryPageSize,
  formatVersions,
  mostInlinePostings,
  type PostingArrays,
  type SegmentChunks,
} from './segment-format.ts';
import { type ByteWriter, createByteWriter } from './varints.ts';

/**
 * Writes the pages of one segment in order. Add every term once, in ascending order (`compareTerms`), then end.
 */
export interface SegmentWriter {
  /** Adds a term, in UTF-8, that occurs in the first `count` chunks of the arrays. Later changes of its bytes do not matter. */
  add(term: Uint8Array, postings: PostingArrays, count: number): void;
  /** Returns the pages that have become complete since the last call. */
  takePages(): Uint8Array[];
  /** Completes the last pages and returns the header. */
  end(): Uint8Array;
}

interface DictionaryPage {
  readonly number: number;
  readonly firstTerm: Uint8Array;
}

/** @param removals the seqs of chunks that leave the segments before this one, in ascending order */
export function createSegmentWriter(chunks: SegmentChunks, removals: readonly number[]): SegmentWriter {
  const { lengths } = chunks;
  const list = createByteWriter();
  const entry = createByteWriter();
  const dictionary = createByteWriter();
  const dictionaryPages: DictionaryPage[] = [];
  let firstTerm = new Uint8Array(0);
  /** The term before, in the first `previousLength` bytes. */
  let previous = new Uint8Array(256);
  let previousLength = 0;
  let pages: Uint8Array[] = [];
  const checksums: number[] = [];

  function emit(page: Uint8Array): number {
    pages.push(page);
    return checksums.push(crc32(page)) - 1;
  }
  function completeDictionaryPage(): void {
    if (dictionary.length === 0) return;
    dictionaryPages.push({ number: emit(dictionary.take()), firstTerm });
    previousLength = 0;
  }
  function remember(term: Uint8Array): void {
    if (term.length > previous.length) previous = new Uint8Array(2 * term.length);
    for (let at = 0; at < term.length; at++) previous[at] = term[at] as number;
    previousLength = term.length;
  }
  function encodeList(postings: PostingArrays, count: number): void {
    entry.writeVarint(count);
    if (count <= mostInlinePostings) {
      encodePostings(list, postings, { from: 0, to: count, previous: -1 });
      entry.writeVarint(list.length);
      entry.writeAll(list);
      list.clear();
      return;
    }
    entry.writeVarint(checksums.length);
    for (const page of encodeLongList(list, postings, { count, lengths })) emit(page);
  }

  return {
    add(term, postings, count) {
      encodeList(postings, count);
      if (dictionary.length + term.length + entry.length + 8 > dictionaryPageSize) completeDictionaryPage();
      if (dictionary.length === 0) firstTerm = term.slice();
      const shared = countShared(previous, previousLength, term);
      dictionary.writeVarint(shared);
      dictionary.writeVarint(term.length - shared);
      dictionary.writeBytes(term, shared, term.length);
      dictionary.writeAll(entry);
      entry.clear();
      remember(term);
    },
    takePages() {
      const complete = pages;
      pages = [];
      return complete;
    },
    end() {
      completeDictionaryPage();
      const header = createByteWriter();
      writeChunks(header, chunks);
      writeDictionaryPages(header, dictionaryPages);
      writeSeqs(header, removals);
      writeChecksums(header, checksums);
      return header.take();
    },
  };
}

function countShared(a: Uint8Array, lengthOfA: number, b: Uint8Array): number {
  const most = Math.min(lengthOfA, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared++;
  return shared;
}

function writeChunks(writer: ByteWriter, { seqs, lengths, haveFilterTerms }: SegmentChunks): void {
  writer.writeVarint(haveFilterTerms ? formatVersions.filtered : formatVersions.plain);
  writeSeqs(writer, seqs);
  for (const length of lengths) writer.writeVarint(length);
}

/** Writes the number of seqs and the distances between them. */
function writeSeqs(writer: ByteWriter, seqs: ArrayLike<number>): void {
  writer.writeVarint(seqs.length);
  let previous = 0;
  for (let at = 0; at < seqs.length; at++) {
    const seq = seqs[at] as number;
    writer.writeVarint(seq - previous);
    previous = seq;
  }
}

function writeDictionaryPages(writer: ByteWriter, dictionaryPages: readonly DictionaryPage[]): void {
  writer.writeVarint(dictionaryPages.length);
  for (const { number, firstTerm } of dictionaryPages) {
    writer.writeVarint(number);
    writer.writeVarint(firstTerm.length);
    writer.writeBytes(firstTerm, 0, firstTerm.length);
  }
}

function writeChecksums(header: ByteWriter, checksums: readonly number[]): void {
  header.writeVarint(checksums.length);
  for (const checksum of checksums) header.writeVarint(checksum);
  header.writeVarint(crc32(header.bytes.subarray(0, header.length)));
}

import { highest, longestText } from '../filter-terms.ts';
import type { TermRange, TextTest } from '../restriction.ts';
import { mapAll } from './live-chunks.ts';
import { decodePostings } from './posting-lists.ts';
import { compareTerms, mostInlinePostings, type PostingArrays } from './segment-format.ts';
import {
  type DictionaryEntry,
  findDictionaryPage,
  largestBlock,
  openPostingList,
  type ReadPage,
  type SegmentHeader,
} from './segment-reader.ts';
import { type ByteCursor, readVarint } from './varints.ts';

/** Where the chunks of a range of terms are marked: 1 for each chunk. */
export type ChunkMarks = Uint8Array;

/** Returns the dictionary pages that may have terms of a range. */
export function findPages({ firstTerms, dictionaryPages }: SegmentHeader, { from, to }: TermRange): readonly number[] {
  const first = Math.max(0, findDictionaryPage(firstTerms, from));
  const last = findDictionaryPage(firstTerms, to);
  return from < to ? dictionaryPages.slice(first, last + 1) : [];
}

export interface RangeSource {
  readonly header: SegmentHeader;
  readonly readPage: ReadPage;
}

/**
 * Marks the chunks with a term of a range.
 * @param pages what `findPages` returns
 */
export function markRange(range: TermRange, pages: readonly number[], { header, readPage }: RangeSource): ChunkMarks {
  const marks = new Uint8Array(header.seqs.length);
  const block: PostingArrays = { chunks: new Int32Array(largestBlock), repeats: new Uint8Array(largestBlock) };
  const chooses = createChoice(range);
  mapAll(pages, (number, place) => {
    const isWhole = place > 0 && place < pages.length - 1 && range.without.length === 0 && range.test === undefined;
    readEntries(readPage(number), isWhole ? null : chooses, (entry) => {
      if (entry.count > mostInlinePostings) markLongList(entry, { header, readPage, block, marks });
      else {
        decodePostings(entry.cursor, block, { count: entry.count, previous: -1 });
        for (let at = 0; at < entry.count; at++) marks[block.chunks[at] as number] = 1;
      }
    });
  });
  return marks;
}

interface MarkContext extends RangeSource {
  readonly block: PostingArrays;
  readonly marks: ChunkMarks;
}

function markLongList(entry: DictionaryEntry, { header, readPage, block, marks }: MarkContext): void {
  const list = openPostingList(entry, header.lengths, readPage);
  for (let number = 0; number < list.blocks; number++) {
    const size = list.decode(number, block);
    for (let at = 0; at < size; at++) marks[block.chunks[at] as number] = 1;
  }
}

/** Returns whether a term, in UTF-8, belongs to a range. */
type ChooseTerm = (bytes: Uint8Array, length: number) => boolean;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function createChoice({ prefix, from, to, without, test }: TermRange): ChooseTerm {
  const [first, end] = [encoder.encode(from), encoder.encode(to)];
  const excluded = without.map((term) => encoder.encode(term));
  const textFrom = encoder.encode(prefix).length;
  return (bytes, length) => {
    const term = bytes.subarray(0, length);
    if (compareTerms(term, first) < 0 || compareTerms(term, end) >= 0) return false;
    if (excluded.some((other) => compareTerms(term, other) === 0)) return false;
    return test === undefined || meetsTest(decoder.decode(term.subarray(textFrom)), test);
  };
}

/** A text that is cut may meet the test by what it lacks. */
function meetsTest(text: string, { type, value }: TextTest): boolean {
  if (text.length >= longestText || text.endsWith(highest)) return true;
  return type === 'contains' ? text.includes(value) : text.endsWith(value);
}

/**
 * Reads the chosen entries of a dictionary page.
 * @param chooses null for all terms
 */
function readEntries(page: Uint8Array, chooses: ChooseTerm | null, onEntry: (entry: DictionaryEntry) => void): void {
  const cursor: ByteCursor = { bytes: page, at: 0 };
  const term = new Uint8Array(page.length);
  while (cursor.at < page.length) {
    const shared = readVarint(cursor);
    const size = readVarint(cursor);
    if (chooses !== null) term.set(page.subarray(cursor.at, cursor.at + size), shared);
    cursor.at += size;
    const count = readVarint(cursor);
    const sizeOrPage = readVarint(cursor);
    const end = count <= mostInlinePostings ? cursor.at + sizeOrPage : cursor.at;
    if (chooses === null || chooses(term, shared + size)) onEntry({ count, sizeOrPage, cursor });
    cursor.at = end;
  }
}

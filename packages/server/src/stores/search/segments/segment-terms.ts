import { crc32 } from 'node:zlib';
import { decodePostings } from './posting-lists.ts';
import { DamagedSegment, mostInlinePostings, type PostingArrays } from './segment-format.ts';
import { type DictionaryEntry, openPostingList, type ReadPage, type SegmentHeader } from './segment-reader.ts';
import { type ByteCursor, readVarint } from './varints.ts';

/** A term of a segment with all its postings. */
export interface TermPostings {
  /** In UTF-8. */
  readonly term: Uint8Array;
  readonly count: number;
  /** The chunks and repeats of the term, in the first `count` places. The next term overwrites them. */
  readonly postings: PostingArrays;
}

/**
 * Reads all terms of a segment in order, with their postings.
 * @throws DamagedSegment when a page does not agree with its checksum, so that no merge writes a new checksum for it
 */
export function* readTerms(header: SegmentHeader, readAnyPage: ReadPage): Generator<TermPostings, void, undefined> {
  const readPage = createVerifiedRead(header, readAnyPage);
  const chunks = header.seqs.length;
  const postings: PostingArrays = { chunks: new Int32Array(chunks), repeats: new Uint8Array(chunks) };
  for (const number of header.dictionaryPages) {
    const cursor = { bytes: readPage(number), at: 0 };
    let term = new Uint8Array(0);
    while (cursor.at < cursor.bytes.length) {
      const shared = readVarint(cursor);
      const size = readVarint(cursor);
      if (shared > term.length || size > cursor.bytes.length - cursor.at)
        throw new DamagedSegment(`a term of page ${number} has more bytes than there are`);
      term = continueTerm(term, shared, { cursor, size });
      const entry = { count: readVarint(cursor), sizeOrPage: readVarint(cursor), cursor };
      if (entry.count > chunks)
        throw new DamagedSegment(`a term of page ${number} has more postings than there are chunks`);
      readPostings(entry, { header, readPage, postings });
      yield { term, count: entry.count, postings };
    }
    if (cursor.at !== cursor.bytes.length) throw new DamagedSegment(`page ${number} does not end where it should`);
  }
}

function createVerifiedRead({ checksums }: SegmentHeader, readPage: ReadPage): ReadPage {
  return (number, ahead) => {
    const page = readPage(number, ahead);
    if (crc32(page) !== checksums[number])
      throw new DamagedSegment(`the checksum of page ${number} does not agree with its bytes`);
    return page;
  };
}

/** Returns the first bytes of the term before and the next bytes of the page. */
function continueTerm(before: Uint8Array, shared: number, { cursor, size }: { cursor: ByteCursor; size: number }) {
  const term = new Uint8Array(shared + size);
  for (let at = 0; at < shared; at++) term[at] = before[at] as number;
  for (let at = 0; at < size; at++) term[shared + at] = cursor.bytes[cursor.at + at] as number;
  cursor.at += size;
  return term;
}

interface PostingSource {
  readonly header: SegmentHeader;
  readonly readPage: ReadPage;
  readonly postings: PostingArrays;
}

function readPostings(entry: DictionaryEntry, { header, readPage, postings }: PostingSource): void {
  const { count, cursor, sizeOrPage } = entry;
  if (count <= mostInlinePostings) {
    const end = cursor.at + sizeOrPage;
    decodePostings(cursor, postings, { count, previous: -1 });
    if (cursor.at !== end) throw new DamagedSegment('a list of postings does not end where it should');
    return;
  }
  const list = openPostingList(entry, header.lengths, readPage);
  let from = 0;
  for (let block = 0; block < list.blocks; block++) {
    from += list.decode(block, { chunks: postings.chunks.subarray(from), repeats: postings.repeats.subarray(from) });
  }
}

import type { Restriction, TermRange } from '../restriction.ts';
import { mapAll } from './live-chunks.ts';
import type { PostingArrays } from './segment-format.ts';
import { largestBlock, type PostingList } from './segment-reader.ts';

export interface CandidateSource {
  /** Number of chunks of the segment. */
  readonly chunks: number;
  /** Returns the chunks with a term; undefined when there is none. */
  readonly listOf: (term: string) => PostingList | undefined;
  /** Marks the chunks with a term of a range; null when the range has too many terms. */
  readonly markRange: (range: TermRange) => Uint8Array | null;
}

/**
 * Returns the chunks of a segment that may meet a restriction, by their numbers, in ascending order; null when all may,
 * because finding them takes too long.
 */
export function findCandidates(restriction: Restriction, source: CandidateSource): Int32Array | null {
  switch (restriction.type) {
    case 'terms': {
      const lists = mapAll(restriction.terms, source.listOf).filter((list) => list !== undefined);
      if (lists.length === 1) return readChunks(lists[0] as PostingList);
      return unite(mapAll(lists, readChunks), source.chunks);
    }
    case 'range': {
      const marks = source.markRange(restriction);
      return marks && readMarks(marks);
    }
    case 'not': {
      const excluded = findCandidates(restriction.part, source);
      return excluded && invert(excluded, source.chunks);
    }
    case 'and': {
      const parts = mapAll(restriction.parts, (part) => findCandidates(part, source)).filter((part) => part !== null);
      return parts.length === 0 ? null : parts.reduce(intersect);
    }
    case 'or': {
      const parts = mapAll(restriction.parts, (part) => findCandidates(part, source));
      return parts.every((part) => part !== null) ? unite(parts, source.chunks) : null;
    }
  }
}

function readChunks(list: PostingList): Int32Array {
  const chunks = new Int32Array(list.count);
  const block: PostingArrays = { chunks: new Int32Array(largestBlock), repeats: new Uint8Array(largestBlock) };
  let count = 0;
  for (let number = 0; number < list.blocks; number++) {
    const size = list.decode(number, block);
    for (let at = 0; at < size; at++) chunks[count + at] = block.chunks[at] as number;
    count += size;
  }
  return chunks;
}

function unite(parts: readonly Int32Array[], chunks: number): Int32Array {
  const filled = parts.filter((part) => part.length > 0);
  if (filled.length <= 1) return filled[0] ?? new Int32Array(0);
  const found = new Uint8Array(chunks);
  for (const part of filled) for (const chunk of part) found[chunk] = 1;
  return readMarks(found);
}

function invert(excluded: Int32Array, chunks: number): Int32Array {
  const marks = new Uint8Array(chunks).fill(1);
  for (const chunk of excluded) marks[chunk] = 0;
  return readMarks(marks);
}

function readMarks(marks: Uint8Array): Int32Array {
  const chunks = new Int32Array(marks.length);
  let count = 0;
  for (let chunk = 0; chunk < marks.length; chunk++) if (marks[chunk] === 1) chunks[count++] = chunk;
  return chunks.slice(0, count);
}

function intersect(a: Int32Array, b: Int32Array): Int32Array {
  const common = new Int32Array(Math.min(a.length, b.length));
  let count = 0;
  for (let inA = 0, inB = 0; inA < a.length && inB < b.length; ) {
    const difference = (a[inA] as number) - (b[inB] as number);
    if (difference === 0) common[count++] = a[inA] as number;
    if (difference <= 0) inA++;
    if (difference >= 0) inB++;
  }
  return common.subarray(0, count);
}

import type { Restriction } from '../filter-terms.ts';
import { mapAll } from './map-all.ts';
import type { PostingArrays } from './segment-format.ts';
import { largestBlock, type PostingList } from './segment-reader.ts';

export interface CandidateSource {
  /** Number of chunks of the segment. */
  readonly chunks: number;
  /** Returns the chunks with a term; undefined when there is none. */
  readonly listOf: (term: string) => PostingList | undefined;
}

/** Returns the chunks of a segment that meet a restriction, by their numbers, in ascending order. */
export function findCandidates(restriction: Restriction, source: CandidateSource): Int32Array {
  if (restriction.type === 'terms') {
    const { terms } = restriction;
    const lists = mapAll(terms, source.listOf).filter((list) => list !== undefined);
    if (lists.length === 1) return readChunks(lists[0] as PostingList);
    return unite(mapAll(lists, readChunks), source.chunks);
  }
  const parts = mapAll(restriction.parts, (part) => findCandidates(part, source));
  return restriction.type === 'or' ? unite(parts, source.chunks) : parts.reduce(intersect);
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
  if (parts.every((part) => part.length === 0)) return new Int32Array(0);
  const found = new Uint8Array(chunks);
  let count = 0;
  for (const part of parts) {
    for (const chunk of part) {
      count += 1 - (found[chunk] as number);
      found[chunk] = 1;
    }
  }
  const united = new Int32Array(count);
  let at = 0;
  for (let chunk = found.indexOf(1); chunk >= 0; chunk = found.indexOf(1, chunk + 1)) united[at++] = chunk;
  return united;
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

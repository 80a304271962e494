import { mostLength, mostRepeats, type PostingArrays, type SegmentChunks } from './segment-format.ts';
import { createSegmentWriter } from './segment-writer.ts';

/** A chunk to index: its terms with their repeats, and its number of words. */
export interface ChunkTerms {
  readonly seq: number;
  readonly terms: ReadonlyMap<string, number>;
  readonly length: number;
}

export interface BuiltSegment {
  readonly header: Uint8Array;
  readonly pages: readonly Uint8Array[];
}

/** Builds a segment of the chunks. Each seq occurs once, in any order. */
export function buildSegment(added: readonly ChunkTerms[]): BuiltSegment {
  const sorted = [...added].sort((a, b) => a.seq - b.seq);
  const chunks: SegmentChunks = {
    seqs: Float64Array.from(sorted, ({ seq }) => seq),
    lengths: Uint16Array.from(sorted, ({ length }) => Math.min(length, mostLength)),
  };
  const writer = createSegmentWriter(chunks, []);
  const lists = invert(sorted);
  const postings: PostingArrays = { chunks: new Int32Array(sorted.length), repeats: new Uint8Array(sorted.length) };
  for (const term of [...lists.keys()].sort()) {
    const list = lists.get(term) as number[];
    for (let at = 0; at < list.length; at += 2) {
      postings.chunks[at / 2] = list[at] as number;
      postings.repeats[at / 2] = list[at + 1] as number;
    }
    writer.add(term, postings, list.length / 2);
  }
  const header = writer.end();
  return { header, pages: writer.takePages() };
}

/** Builds the header of a segment that only removes chunks. It has no pages. */
export function buildRemovals(seqs: readonly number[]): Uint8Array {
  const none: SegmentChunks = { seqs: new Float64Array(0), lengths: new Uint16Array(0) };
  return createSegmentWriter(
    none,
    [...new Set(seqs)].sort((a, b) => a - b),
  ).end();
}

/** Returns, for each term, the numbers of its chunks and the repeats in each, in turn. */
function invert(sorted: readonly ChunkTerms[]): Map<string, number[]> {
  const lists = new Map<string, number[]>();
  for (const [number, { terms }] of sorted.entries()) {
    for (const [term, times] of terms) {
      const list = lists.get(term);
      const repeats = Math.min(times, mostRepeats);
      if (list === undefined) lists.set(term, [number, repeats]);
      else list.push(number, repeats);
    }
  }
  return lists;
}

import { mostLength, mostRepeats, type PostingArrays, type SegmentChunks } from './segment-format.ts';
import { createSegmentWriter } from './segment-writer.ts';

/** A chunk to index: its terms with their repeats, and its number of words. */
export interface ChunkTerms {
  readonly seq: number;
  readonly terms: ReadonlyMap<string, number>;
  readonly length: number;
  /** What its filter terms say; undefined when they are unknown. */
  readonly filterTerms?: readonly string[] | undefined;
}

export interface BuiltSegment {
  readonly header: Uint8Array;
  readonly pages: readonly Uint8Array[];
}

const encoder = new TextEncoder();

/** Builds a segment of the chunks. Each seq occurs once, in any order. */
export function buildSegment(added: readonly ChunkTerms[]): BuiltSegment {
  const sorted = [...added].sort((a, b) => a.seq - b.seq);
  const chunks: SegmentChunks = {
    seqs: Float64Array.from(sorted, ({ seq }) => seq),
    lengths: Uint16Array.from(sorted, ({ length }) => Math.min(length, mostLength)),
    haveFilterTerms: sorted.every(({ filterTerms }) => filterTerms !== undefined),
  };
  const writer = createSegmentWriter(chunks, []);
  const list: PostingArrays = { chunks: new Int32Array(sorted.length), repeats: new Uint8Array(sorted.length) };
  // A segment has its terms in the order of JavaScript's strings.
  const postings = groupByTerm(sorted);
  for (const term of [...postings.keys()].sort()) {
    const ofTerm = postings.get(term) ?? [];
    for (let at = 0; at < ofTerm.length; at += 2) {
      list.chunks[at / 2] = ofTerm[at] as number;
      list.repeats[at / 2] = Math.min(ofTerm[at + 1] as number, mostRepeats);
    }
    writer.add(encoder.encode(term), list, ofTerm.length / 2);
  }
  const header = writer.end();
  return { header, pages: writer.takePages() };
}

/** Returns the postings of each term: the number of a chunk and the repeats in it, in turn. */
function groupByTerm(chunks: readonly ChunkTerms[]): Map<string, number[]> {
  const postings = new Map<string, number[]>();
  const add = (term: string, chunk: number, times: number): void => {
    const known = postings.get(term);
    if (known === undefined) postings.set(term, [chunk, times]);
    else known.push(chunk, times);
  };
  for (const [chunk, { terms, filterTerms = [] }] of chunks.entries()) {
    for (const [term, times] of terms) add(term, chunk, times);
    for (const term of new Set(filterTerms)) add(term, chunk, 1);
  }
  return postings;
}

/** Builds the header of a segment that only removes chunks. It has no pages. */
export function buildRemovals(seqs: readonly number[]): Uint8Array {
  const none: SegmentChunks = { seqs: new Float64Array(0), lengths: new Uint16Array(0), haveFilterTerms: false };
  return createSegmentWriter(
    none,
    [...new Set(seqs)].sort((a, b) => a - b),
  ).end();
}

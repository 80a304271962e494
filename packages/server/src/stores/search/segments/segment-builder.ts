import { createWordReader } from './chunk-words.ts';
import { mostLength, mostRepeats, type PostingArrays } from './segment-format.ts';
import { createSegmentWriter } from './segment-writer.ts';
import { compareTerms, prefixOf } from './term-order.ts';
import { createTermTable } from './term-table.ts';

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

/** A chunk to index: its words as `ExtractedChunk.words` has them. */
export type ChunkWords = Pick<ChunkTerms, 'seq' | 'filterTerms'> & { readonly words: string };

/** Builds one segment. Each seq is added once, in ascending order. */
export interface SegmentBuilder {
  add(chunk: ChunkTerms): void;
  /**
   * Adds a chunk from its words. This takes a third of the time of `add`.
   * @returns false, and adds nothing, when a word may have to be changed before it is a term
   */
  addWords(chunk: ChunkWords): boolean;
  build(): BuiltSegment;
}

const encoder = new TextEncoder();

export function createSegmentBuilder(): SegmentBuilder {
  const seqs: number[] = [];
  const lengths: number[] = [];
  const terms = createTermTable();
  const postings = createPostings();
  const reader = createWordReader();
  let haveFilterTerms = true;

  function addFilterTerms(filterTerms: readonly string[] | undefined): void {
    if (filterTerms === undefined) haveFilterTerms = false;
    for (const term of filterTerms ?? []) {
      const bytes = encoder.encode(term);
      postings.add(terms.numberOf(bytes, 0, bytes.length), seqs.length, 1);
    }
  }
  return {
    add(chunk) {
      for (const [term, times] of chunk.terms) {
        const bytes = encoder.encode(term);
        postings.add(terms.numberOf(bytes, 0, bytes.length), seqs.length, times);
      }
      addFilterTerms(chunk.filterTerms);
      seqs.push(chunk.seq);
      lengths.push(Math.min(chunk.length, mostLength));
    },
    addWords({ seq, words, filterTerms }) {
      const count = reader.read(words);
      if (count < 0) return false;
      const { bytes, starts, ends, times } = reader;
      let length = 0;
      for (let at = 0; at < count; at++) {
        const term = terms.numberOf(bytes, starts[at] as number, ends[at] as number);
        postings.add(term, seqs.length, times[at] as number);
        length += times[at] as number;
      }
      addFilterTerms(filterTerms);
      seqs.push(seq);
      lengths.push(Math.min(length, mostLength));
      return true;
    },
    build() {
      const chunks = { seqs: Float64Array.from(seqs), lengths: Uint16Array.from(lengths), haveFilterTerms };
      const writer = createSegmentWriter(chunks, []);
      const grouped = postings.group(terms.size);
      const list: PostingArrays = { chunks: new Int32Array(seqs.length), repeats: new Uint8Array(seqs.length) };
      const texts = Array.from({ length: terms.size }, (_, number) => terms.term(number));
      for (const number of sortTerms(texts)) {
        writer.add(texts[number] as Uint8Array, list, grouped.copyTo(list, number));
      }
      const header = writer.end();
      return { header, pages: writer.takePages() };
    },
  };
}

/** Returns the numbers of the terms in the order of the terms. */
function sortTerms(terms: readonly Uint8Array[]): Float64Array {
  const size = terms.length;
  // A number has 53 bits: the prefix takes 32 of them. Numbers sort many times as fast as a comparison of terms.
  const keys = Float64Array.from(terms, (term, number) => prefixOf(term) * size + number);
  keys.sort();
  const prefixAt = (place: number) => Math.floor((keys[place] as number) / size);
  for (let from = 0; from < size; ) {
    const prefix = prefixAt(from);
    let to = from;
    for (; to < size && prefixAt(to) === prefix; to++) keys[to] = (keys[to] as number) % size;
    const numbers = keys.subarray(from, to);
    if (to > from + 1) numbers.sort((a, b) => compareTerms(terms[a] as Uint8Array, terms[b] as Uint8Array));
    from = to;
  }
  return keys;
}

/** Postings in the order in which they are added, one chunk after another. */
interface Postings {
  /** Adds repeats of a term in a chunk, also to a posting that exists. */
  add(term: number, chunk: number, times: number): void;
  group(termCount: number): GroupedPostings;
}
interface GroupedPostings {
  /** Copies the postings of a term to the first places of the arrays, and returns their number. */
  copyTo(target: PostingArrays, term: number): number;
}

const firstPostings = 32_768;

function createPostings(): Postings {
  let terms = new Int32Array(firstPostings);
  let chunks = new Int32Array(firstPostings);
  let repeats = new Uint8Array(firstPostings);
  /** The number of postings of each term, and one more than the place of its last one. */
  let counts = new Int32Array(firstPostings);
  let last = new Int32Array(firstPostings);
  let count = 0;

  function enlarge(): void {
    [terms, chunks, counts, last] = [double(terms), double(chunks), double(counts), double(last)];
    const larger = new Uint8Array(2 * repeats.length);
    larger.set(repeats);
    repeats = larger;
  }
  return {
    add(term, chunk, times) {
      const previous = (last[term] as number) - 1;
      if (previous >= 0 && chunks[previous] === chunk) {
        repeats[previous] = Math.min((repeats[previous] as number) + times, mostRepeats);
        return;
      }
      // There are at most as many terms as postings.
      if (count === terms.length) enlarge();
      terms[count] = term;
      chunks[count] = chunk;
      repeats[count] = Math.min(times, mostRepeats);
      counts[term] = (counts[term] as number) + 1;
      last[term] = ++count;
    },
    group(termCount) {
      const starts = new Int32Array(termCount + 1);
      for (let term = 0; term < termCount; term++)
        starts[term + 1] = (starts[term] as number) + (counts[term] as number);
      const places = new Int32Array(count);
      const next = starts.slice();
      for (let at = 0; at < count; at++) {
        const term = terms[at] as number;
        const place = next[term] as number;
        places[place] = at;
        next[term] = place + 1;
      }
      return {
        copyTo(target, term) {
          const from = starts[term] as number;
          const found = (starts[term + 1] as number) - from;
          for (let at = 0; at < found; at++) {
            const place = places[from + at] as number;
            target.chunks[at] = chunks[place] as number;
            target.repeats[at] = repeats[place] as number;
          }
          return found;
        },
      };
    },
  };
}

function double(values: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * values.length);
  larger.set(values);
  return larger;
}

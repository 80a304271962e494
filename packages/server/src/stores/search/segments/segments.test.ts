import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildRemovals, buildSegment, type ChunkTerms } from './build-segment.ts';
import { type CollectionIndex, createCollectionIndexes } from './collection-index.ts';
import { mergeSegments } from './merge-segments.ts';
import { rankSegments } from './rank-segments.ts';
import { decodeHeader } from './segment-reader.ts';
import { scorePosting } from './term-scorer.ts';

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}
type Random = () => number;
const below = (random: Random, most: number) => Math.floor(random() * most);

const alphabets = ['abcdefgh', 'žščřéü', '検索資料庫問答', 'бвгдежз', 'ابتثجح', '😀😁𝒜𐐷'].map((each) => [...each]);

/** A few common words and many rare ones, of several scripts. */
function createVocabulary(random: Random, size: number): string[] {
  const words = new Set<string>();
  while (words.size < size) {
    const letters = alphabets[below(random, alphabets.length)] ?? [];
    words.add(Array.from({ length: 1 + below(random, 6) }, () => letters[below(random, letters.length)]).join(''));
  }
  return [...words];
}

function createChunk(random: Random, seq: number, vocabulary: readonly string[]): ChunkTerms {
  const terms = new Map<string, number>();
  let length = 0;
  for (let left = below(random, 30); left >= 0; left--) {
    const word = vocabulary[Math.floor(random() ** 3 * vocabulary.length)] as string;
    const times = random() < 0.9 ? 1 : 1 + below(random, 300);
    terms.set(word, Math.min((terms.get(word) ?? 0) + times, 255));
    length += times;
  }
  if (random() >= 0.01) return { seq, terms, length: Math.min(length, 65_535) };
  // A chunk of more words than its postings can say.
  terms.set(vocabulary[0] as string, 255);
  return { seq, terms, length: 65_535 };
}

interface StoredSegment {
  readonly header: Uint8Array;
  readonly pages: readonly Uint8Array[];
}

/** Opens stored segments in their order, with the smallest caches that work, or with large ones. */
function openAll(stored: readonly StoredSegment[], cacheBytes: number): CollectionIndex {
  const store = {
    list: () => stored.map((_, place) => place),
    readHeader: (segment: number) => stored[segment]?.header ?? assert.fail(`no segment ${segment}`),
    readPage: (segment: number, page: number) => stored[segment]?.pages[page] ?? assert.fail(`no page ${page}`),
  };
  const open = createCollectionIndexes(store, {
    headerBytes: cacheBytes,
    pageBytes: cacheBytes,
    listBytes: cacheBytes,
    candidateBytes: cacheBytes,
  });
  open('the only one');
  return open('the only one');
}

const removalsOf = (seqs: Iterable<number>): StoredSegment => ({ header: buildRemovals([...seqs]), pages: [] });

function merge(parts: readonly StoredSegment[], areFirst: boolean): StoredSegment[] {
  const opened = parts.map(({ header, pages }) => ({
    header: decodeHeader(header),
    readPage: (number: number) => pages[number] ?? assert.fail(`no page ${number}`),
  }));
  const merging = mergeSegments(opened, { areFirst });
  const pages: Uint8Array[] = [];
  for (let step = merging.next(); ; step = merging.next()) {
    if (step.done !== true) pages.push(step.value);
    else return step.value.chunks + step.value.removals === 0 ? [] : [{ header: step.value.header, pages }];
  }
}

interface WeightedTerm {
  readonly term: string;
  readonly weight: number;
}
interface Formula {
  readonly base: number;
  readonly perWord: number;
}

/** Some terms score the same in each chunk, as those of exact questions do. */
const formulaOf = ({ term, weight }: WeightedTerm, formula: Formula) =>
  term.length % 4 === 0 ? { weight, base: 0, perWord: 0 } : { weight, ...formula };

/** Scores every chunk, without an index. */
function rankAll(chunks: readonly ChunkTerms[], terms: readonly WeightedTerm[], formula: Formula) {
  return chunks
    .filter((chunk) => terms.some(({ term }) => chunk.terms.has(term)))
    .map(({ seq, terms: own, length }) => {
      const scores = terms.map((each) => {
        const times = own.get(each.term);
        return times === undefined ? 0 : scorePosting(formulaOf(each, formula), times, length);
      });
      return { seq, score: scores.reduce((sum, score) => sum + score, 0) };
    })
    .sort((a, b) => b.score - a.score || a.seq - b.seq);
}

function createQuestion(random: Random, vocabulary: readonly string[]): WeightedTerm[] {
  const words = new Set(
    Array.from(
      { length: 1 + below(random, 8) },
      () => vocabulary[Math.floor(random() ** 2 * vocabulary.length)] as string,
    ),
  );
  if (random() < 0.2) words.add('missing');
  return [...words].map((term) => ({ term, weight: random() < 0.1 ? random() : random() * (1e9 / words.size) }));
}

/** Asks and compares the best chunks, the counts of terms and the sums of the index with those of the live chunks. */
function compare(
  index: CollectionIndex,
  live: readonly ChunkTerms[],
  question: readonly WeightedTerm[],
  formula: Formula,
) {
  const { counts, segments } = index.find(question.map(({ term }) => term));
  const holding = question.map(({ term }) => live.filter(({ terms }) => terms.has(term)).length);
  assert.deepEqual(counts, holding);
  const words = live.reduce((sum, { length }) => sum + length, 0);
  assert.deepEqual([index.chunks, index.words], [live.length, words]);
  const expected = rankAll(live, question, formula);
  const formulas = question.map((each) => formulaOf(each, formula));
  for (const count of [1, 5, 100]) {
    assert.deepEqual(rankSegments(segments, { formulas, count }), expected.slice(0, count));
  }
  return 3;
}

describe('segments', () => {
  test('segments return the same chunks in the same order with the same scores as a scan of all chunks', () => {
    let comparisons = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const random = createRandom(seed);
      const vocabulary = createVocabulary(random, 20 + below(random, 400));
      const chunks = Array.from({ length: 1 + below(random, seed % 10 === 0 ? 12_000 : 400) }, (_, at) =>
        createChunk(random, at * 3 + 1, vocabulary),
      );
      const removed = new Set(chunks.filter(() => random() < 0.1).map(({ seq }) => seq));
      const parts: ChunkTerms[][] = Array.from({ length: 1 + below(random, 6) }, () => []);
      // Some parts follow one another, others interleave.
      for (const [at, chunk] of chunks.entries()) {
        const interleaved = seed % 2 === 0;
        parts[interleaved ? below(random, parts.length) : Math.floor((at * parts.length) / chunks.length)]?.push(chunk);
      }
      // A quarter of the removed chunks is added again with other words, and a seq that was never added is removed.
      const again = [...removed].filter((_, at) => at % 4 === 0).map((seq) => createChunk(random, seq, vocabulary));
      const live = [...chunks.filter(({ seq }) => !removed.has(seq)), ...again];
      const stored = [...parts.map(buildSegment), removalsOf([...removed, 2]), buildSegment(again)];
      const middle = 1 + below(random, stored.length - 1);
      const variants = [
        openAll(stored, 0),
        openAll(stored, 10_000),
        openAll(merge(stored, true), 10_000_000),
        openAll([...merge(stored.slice(0, middle), true), ...merge(stored.slice(middle), false)], 100_000),
        openAll([...stored.slice(0, middle), ...merge(stored.slice(middle), false)], 10_000_000),
      ];
      for (let question = 0; question < 15; question++) {
        const terms = createQuestion(random, vocabulary);
        const formula = { base: 0.3, perWord: random() * 0.2 };
        for (const index of variants) comparisons += compare(index, live, terms, formula);
      }
    }
    assert.equal(comparisons, 9000);
  });

  test('a segment of one chunk returns the same as a scan, also with scores of zero', () => {
    let comparisons = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const random = createRandom(seed);
      const vocabulary = createVocabulary(random, 8);
      const chunks = [createChunk(random, 1 + below(random, 1e9), vocabulary)];
      const index = openAll(
        chunks.map((chunk) => buildSegment([chunk])),
        seed % 2 === 0 ? 0 : 100_000,
      );
      for (let question = 0; question < 10; question++) {
        const terms = createQuestion(random, vocabulary).map(({ term, weight }) => ({
          term,
          // A weight below one unit gives every posting the score zero.
          weight: question % 2 === 0 ? weight : random(),
        }));
        comparisons += compare(index, chunks, terms, { base: 0.3, perWord: random() * 0.2 });
      }
    }
    assert.equal(comparisons, 1200);
  });

  test('100,000 chunks, most of them with equal scores, return the same as a scan', () => {
    const random = createRandom(77);
    const vocabulary = createVocabulary(random, 300);
    // Each word is repeated at most twice and all chunks have one length, so that most scores are tied.
    const chunks = Array.from({ length: 100_000 }, (_, at) => {
      const terms = new Map<string, number>();
      for (let left = 3; left > 0; left--) {
        terms.set(vocabulary[Math.floor(random() ** 2 * vocabulary.length)] as string, 1 + below(random, 2));
      }
      return { seq: 2 * at + 1, terms, length: 8 };
    });
    const removed = new Set(chunks.filter(() => random() < 0.05).map(({ seq }) => seq));
    const parts = [buildSegment(chunks.slice(0, 70_000)), buildSegment(chunks.slice(70_000)), removalsOf(removed)];
    const live = chunks.filter(({ seq }) => !removed.has(seq));
    const variants = [openAll(parts, 100_000_000), openAll(merge(parts, true), 100_000_000)];
    let comparisons = 0;
    for (let question = 0; question < 8; question++) {
      const terms = createQuestion(random, vocabulary);
      for (const index of variants) comparisons += compare(index, live, terms, { base: 0.3, perWord: 0.1 });
    }
    assert.equal(comparisons, 48);
  });

  test('a merge drops a removal with its chunk, and keeps one whose chunk is in an earlier segment', () => {
    const chunk = (seq: number) => ({ seq, terms: new Map([['word', 1]]), length: 1 });
    const stored = [buildSegment([chunk(1), chunk(2), chunk(3)]), removalsOf([2, 3]), removalsOf([1])];
    const removalsIn = (merged: readonly StoredSegment[]) => merged.map(({ header }) => decodeHeader(header).removals);
    assert.deepEqual(removalsIn(merge(stored.slice(1), false)), [Float64Array.of(1, 2, 3)]);
    assert.deepEqual(removalsIn(merge(stored.slice(0, 2), true)), [Float64Array.of()]);
    assert.deepEqual(merge(stored, true), [], 'nothing is left');
    assert.deepEqual(merge([removalsOf([7])], true), [], 'a removal of an unknown chunk is dropped');
  });
});

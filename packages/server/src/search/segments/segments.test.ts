import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildSegment, type ChunkTerms } from './build-segment.ts';
import { checkSegment } from './check-segment.ts';
import { mergeSegments } from './merge-segments.ts';
import { type OpenSegment, rankSegments, type WeightedTerm } from './rank-segments.ts';
import { DamagedSegment } from './segment-format.ts';
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
  return { seq, terms, length: Math.min(random() < 0.01 ? 65_535 : length, 65_535) };
}

function open(chunks: readonly ChunkTerms[], deleted: ReadonlySet<number>): OpenSegment {
  const { header, pages } = buildSegment(chunks);
  return openBytes(header, pages, deleted);
}

function openBytes(bytes: Uint8Array, pages: readonly Uint8Array[], deleted: ReadonlySet<number>): OpenSegment {
  const header = decodeHeader(bytes);
  const bits = new Uint8Array(Math.ceil(header.seqs.length / 8));
  header.seqs.forEach((seq, chunk) => {
    if (deleted.has(seq)) bits[chunk >>> 3] = (bits[chunk >>> 3] ?? 0) | (1 << (chunk & 7));
  });
  return {
    header,
    readPage: (number) => pages[number] ?? assert.fail(`no page ${number}`),
    deleted: bits.some((byte) => byte > 0) ? bits : null,
  };
}

function mergeAll(parts: readonly OpenSegment[]): OpenSegment[] {
  const merging = mergeSegments(parts);
  const pages: Uint8Array[] = [];
  for (let step = merging.next(); ; step = merging.next()) {
    if (step.done !== true) pages.push(step.value);
    else return step.value === undefined ? [] : [openBytes(step.value, pages, new Set())];
  }
}

interface Formula {
  readonly base: number;
  readonly perWord: number;
}

/** Scores every chunk, without an index. */
function rankAll(chunks: readonly ChunkTerms[], terms: readonly WeightedTerm[], { base, perWord }: Formula) {
  return chunks
    .filter((chunk) => terms.some(({ term }) => chunk.terms.has(term)))
    .map(({ seq, terms: own, length }) => {
      const scores = terms.map(({ term, weight }) => {
        const times = own.get(term);
        return times === undefined ? 0 : scorePosting({ weight, base, perWord }, times, length);
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

describe('segments', () => {
  test('segments return the same chunks in the same order with the same scores as a scan of all chunks', () => {
    let comparisons = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const random = createRandom(seed);
      const vocabulary = createVocabulary(random, 20 + below(random, 400));
      const chunks = Array.from({ length: 1 + below(random, seed % 10 === 0 ? 12_000 : 400) }, (_, at) =>
        createChunk(random, at * 3 + 1, vocabulary),
      );
      const deleted = new Set(chunks.filter(() => random() < 0.1).map(({ seq }) => seq));
      const live = chunks.filter(({ seq }) => !deleted.has(seq));
      const parts: ChunkTerms[][] = Array.from({ length: 1 + below(random, 6) }, () => []);
      // Some parts follow one another, others interleave.
      for (const [at, chunk] of chunks.entries()) {
        const interleaved = seed % 2 === 0;
        parts[interleaved ? below(random, parts.length) : Math.floor((at * parts.length) / chunks.length)]?.push(chunk);
      }
      const segments = parts.filter((part) => part.length > 0).map((part) => open(part, deleted));
      const merged = mergeAll(segments);
      for (let question = 0; question < 15; question++) {
        const terms = createQuestion(random, vocabulary);
        const formula = { base: 0.3, perWord: random() * 0.2 };
        const expected = rankAll(live, terms, formula);
        for (const count of [1, 5, 100]) {
          for (const opened of [segments, merged]) {
            assert.deepEqual(
              rankSegments(opened, { terms, ...formula, count }),
              expected.slice(0, count),
              `seed ${seed}, question ${question}`,
            );
            comparisons++;
          }
        }
      }
    }
    assert.equal(comparisons, 3600);
  });
});

test('a check counts the chunks and postings of a segment, and reports damage', () => {
  const random = createRandom(7);
  const vocabulary = createVocabulary(random, 60);
  const chunks = Array.from({ length: 600 }, (_, at) => createChunk(random, at + 1, vocabulary));
  const { header, pages } = buildSegment(chunks);
  const readPage = (number: number) => pages[number] ?? assert.fail(`no page ${number}`);
  const postings = chunks.reduce((sum, { terms }) => sum + terms.size, 0);
  assert.deepEqual(checkSegment(decodeHeader(header), readPage), { chunks: 600, postings });
  const { lengths, dictionaryPages, firstTerms } = decodeHeader(header);
  const reversed = decodeHeader(header).seqs.reverse();
  const unordered = { seqs: reversed, lengths, dictionaryPages, firstTerms };
  assert.throws(() => checkSegment(unordered, readPage), /the chunks are not in order/);
  const twice = { ...decodeHeader(header), dictionaryPages: [...dictionaryPages, ...dictionaryPages] };
  assert.throws(() => checkSegment(twice, readPage), /the terms are not in order/);
  const cut = (number: number) => readPage(number).subarray(0, -1);
  assert.throws(() => checkSegment(decodeHeader(header), cut), DamagedSegment);
  assert.throws(() => decodeHeader(header.subarray(0, -1)), DamagedSegment);
  assert.throws(() => decodeHeader(Uint8Array.of(2, ...header.subarray(1))), /the format 2 is not 1/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSegment } from './build-segment.ts';
import { createCollectionIndexes } from './collection-index.ts';
import { rankSegments } from './rank-segments.ts';
import { scorePosting } from './term-scorer.ts';

/** Returns one segment with these chunks, and the postings of the terms. */
function openSegments(chunks: Parameters<typeof buildSegment>[0], terms: readonly string[]) {
  const { header, pages } = buildSegment(chunks);
  const open = createCollectionIndexes(
    { list: () => [1], readHeader: () => header, readPage: (_, page) => pages[page] ?? assert.fail() },
    { headerBytes: 1e7, pageBytes: 1e7, listBytes: 1e7, candidateBytes: 1e7 },
  );
  return open('c').find(terms).segments;
}

test('a ranking stops before the window in which its question ends', () => {
  const chunks = Array.from({ length: 20_000 }, (_, at) => ({ seq: at + 1, terms: new Map([['red', 1]]), length: 1 }));
  const segments = openSegments(chunks, ['red']);
  let windows = 0;
  const rank = (last: number) =>
    rankSegments(segments, {
      formulas: [{ weight: 1e9, base: 0.3, perWord: 0.1 }],
      count: 3,
      checkpoint() {
        if (++windows === last) throw new Error('ended');
      },
    });
  assert.deepEqual(
    rank(Number.POSITIVE_INFINITY).map(({ seq }) => seq),
    [1, 2, 3],
  );
  assert.equal(windows, 5, 'windows of 4,096 chunks');
  windows = 0;
  assert.throws(() => rank(3), /ended/);
  assert.equal(windows, 3);
});

test('a ranking adds up the scores of the last chunk of a window and of the first of the next, once each', () => {
  const edges = new Set([0, 4095, 4096, 8191, 8192]);
  const chunks = Array.from({ length: 8193 }, (_, at) => ({
    ...{ seq: at, length: 1 },
    terms: new Map([['red', 1], ...(edges.has(at) ? [['edge', 1] as const] : [])]),
  }));
  const formula = { weight: 1e8, base: 1, perWord: 0 };
  const ranked = rankSegments(openSegments(chunks, ['red', 'edge']), { formulas: [formula, formula], count: 6 });
  const ofWord = scorePosting(formula, 1, 1);
  assert.deepEqual(
    ranked.map(({ seq, score }) => [seq, score]),
    [...[...edges].map((seq) => [seq, 2 * ofWord]), [1, ofWord]],
  );
});

/** Opens 40,000 chunks. The later ones are shorter and score more, so that the threshold rises until the end. */
function openShortening() {
  const count = 40_000;
  const chunks = Array.from({ length: count }, (_, at) => {
    const terms = ['the', 'often', 'rare', 'seldom'].filter((_, place) => at % ([1, 3, 50, 71][place] ?? 1) === 0);
    return { seq: at + 1, terms: new Map(terms.map((term) => [term, 1])), length: count - at };
  });
  return openSegments(chunks, ['the', 'often', 'rare', 'seldom']);
}

test('a ranking decodes few blocks of common terms, because rare terms give a threshold first', () => {
  const decoded = [0, 0, 0, 0];
  const segments = openShortening().map((segment) => ({
    ...segment,
    lists: segment.lists.map(
      (list, place) =>
        list && {
          ...list,
          decode(...block: Parameters<typeof list.decode>) {
            decoded[place] = (decoded[place] as number) + 1;
            return list.decode(...block);
          },
        },
    ),
  }));
  const formulas = [1e6, 1e7, 4e8, 5e8].map((weight) => ({ weight, base: 0.3, perWord: 0.0001 }));
  const ranked = rankSegments(segments, { formulas, count: 3 });
  assert.deepEqual(
    ranked.map(({ seq }) => seq),
    [39_051, 35_501, 31_951],
  );
  // The lists have 313, 105, 7 and 5 blocks. The first pass reads all blocks of the two rare terms, and the second a few.
  assert.deepEqual(decoded, [3, 3, 10, 7]);
});

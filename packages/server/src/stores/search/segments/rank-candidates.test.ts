import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Restriction } from '../restriction.ts';
import { buildSegment } from './build-segment.ts';
import { createCollectionIndexes } from './collection-index.ts';
import { type RankedSegment, rankSegments } from './rank-segments.ts';

const size = 50_000;
/** One percent of the chunks are near, in a row; one percent are far, evenly distributed. Half of the chunks are even. */
const chunks = Array.from({ length: size }, (_, at) => ({
  seq: at + 1,
  length: 1 + (at % 7),
  terms: new Map([
    ['all', 1],
    [`half${at % 2}`, 1 + (at % 3)],
  ]),
  filterTerms: [
    ...(at >= 20_000 && at < 20_500 ? ['\u0001near'] : []),
    ...(at % 100 === 0 ? ['\u0001far'] : []),
    ...(at % 2 === 0 ? ['\u0001even'] : []),
  ],
}));
const { header, pages } = buildSegment(chunks);
const open = createCollectionIndexes(
  { list: () => [1], readHeader: () => header, readPage: (_, page) => pages[page] ?? assert.fail() },
  { headerBytes: 1e7, pageBytes: 1e7, listBytes: 1e7, candidateBytes: 1e7 },
);
const words = ['all', 'half0'];
const options = { formulas: [4e8, 6e8].map((weight) => ({ weight, base: 0.3, perWord: 0.1 })) };
const named = (...terms: string[]): Restriction => ({ type: 'terms', terms: terms.map((term) => `\u0001${term}`) });

/** Ranks and counts the blocks of the words that are decoded. */
function rank(restriction: Restriction | null, count: number) {
  let blocks = 0;
  const segments = open('c')
    .find(words, { restriction })
    .segments.map(
      (segment): RankedSegment => ({
        ...segment,
        lists: segment.lists.map(
          (list) =>
            list && {
              ...list,
              decode(block, target) {
                blocks++;
                return list.decode(block, target);
              },
            },
        ),
      }),
    );
  return { ranked: rankSegments(segments, { ...options, count }), blocks };
}

test('a ranking of few candidates decodes only the blocks in which they are', () => {
  assert.equal(rank(named('missing'), 25).blocks, 0);
  const { blocks } = rank(named('near'), 25);
  assert.ok(blocks <= 5 + 3, `${blocks} blocks of 500 neighbours`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuse } from './fuse.ts';

const words = [
  { seq: 1, score: 0.9 },
  { seq: 2, score: 0.5 },
];
const vectors = [
  { seq: 2, similarity: 0.8 },
  { seq: 3, similarity: 0.7 },
];

test('without vectors, the scores are those of the word search', () => {
  assert.deepEqual(fuse(words, null), [
    { seq: 1, score: 0.9, words: { rank: 1, score: 0.9 }, vector: null },
    { seq: 2, score: 0.5, words: { rank: 2, score: 0.5 }, vector: null },
  ]);
});

test('hits that appear in both rankings come first, and each hit has its positions', () => {
  const fused = fuse(words, vectors);
  assert.deepEqual(
    fused.map(({ seq, words: byWords, vector }) => [seq, byWords?.rank ?? null, vector?.rank ?? null]),
    [
      [2, 2, 1],
      [1, 1, null],
      [3, null, 2],
    ],
  );
  assert.equal(fused[0]?.score.toFixed(4), ((1 / 12 + 1 / 11) / (2 / 11)).toFixed(4));
});

test('a chunk that is first in both rankings has the score 1', () => {
  assert.equal(fuse([{ seq: 7, score: 0.3 }], [{ seq: 7, similarity: 0.4 }])[0]?.score, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuse, rankByVectors, rankByWords, type VectorRanking } from './fuse.ts';

const scale = { unrelated: 0.2, related: 0.7, weight: 1, share: 1 };
const even = { words: 1, vectors: 1 };
const seqs = (hits: ReadonlyArray<{ readonly seq: number }>) => hits.map(({ seq }) => seq);

function vectorsOf(nearest: Readonly<Record<number, number>>, others: Readonly<Record<number, number>> = {}) {
  const entries = (of: Readonly<Record<number, number>>) =>
    Object.entries(of).map(([seq, similarity]) => [Number(seq), similarity] as const);
  return {
    nearest: entries(nearest)
      .map(([seq, similarity]) => ({ seq, similarity }))
      .sort((a, b) => b.similarity - a.similarity),
    similarities: new Map([...entries(nearest), ...entries(others)]),
    scale,
  } satisfies VectorRanking;
}

test('with words alone, the scores are those of the word search', () => {
  assert.deepEqual(rankByWords([{ seq: 1, score: 0.9 }]), [
    { seq: 1, score: 0.9, words: { rank: 1, score: 0.9 }, vector: null },
  ]);
});

test('a chunk without a vector keeps the score of its words, and the place that this score gives', () => {
  const words = [
    { seq: 1, score: 0.35 },
    { seq: 2, score: 0.3 },
  ];
  const fused = fuse(words, vectorsOf({ 3: 0.6, 2: 0.3 }), even);
  assert.deepEqual(seqs(fused), [1, 2, 3]);
  assert.deepEqual([fused[0]?.score, fused[0]?.vector], [0.35, null]);
});

test('a similarity of a related text scores like a right answer by words, and an unrelated one scores 0', () => {
  const ranked = rankByVectors(vectorsOf({ 1: 0.7, 2: 0.45, 3: 0.2, 4: -1 }));
  assert.deepEqual(
    ranked.map(({ score }) => Number(score.toFixed(3))),
    [0.4, 0.1, 0, 0],
  );
});

test('the score is at least that of each ranking, and more when both agree', () => {
  const [best] = fuse([{ seq: 1, score: 0.4 }], vectorsOf({ 1: 0.7 }), even);
  assert.ok(best !== undefined && best.score > 0.4 && best.score < 0.5);
  const [alone] = fuse([], vectorsOf({ 1: 0.7 }), even);
  assert.equal(alone?.score.toFixed(6), '0.400000');
});

test('a score does not depend on the other results', () => {
  const words = [
    { seq: 1, score: 0.4 },
    { seq: 2, score: 0.3 },
  ];
  const all = fuse(words, vectorsOf({ 1: 0.6, 2: 0.5 }), even);
  const filtered = fuse(words.slice(1), vectorsOf({ 2: 0.5 }), even);
  assert.equal(all.find(({ seq }) => seq === 2)?.score, filtered[0]?.score);
});

test('weights are relative to each other: the larger counts in full, and 0 leaves a ranking out', () => {
  const words = [{ seq: 1, score: 0.3 }];
  const vectors = vectorsOf({ 2: 0.7 });
  assert.deepEqual(
    fuse(words, vectors, { words: 0.2, vectors: 0.4 }),
    fuse(words, vectors, { words: 0.5, vectors: 1 }),
  );
  assert.deepEqual(
    fuse(words, vectors, { words: 1, vectors: 0 }).map(({ seq, score }) => [seq, Number(score.toFixed(6))]),
    [
      [1, 0.3],
      [2, 0],
    ],
  );
});

test('equal scores are sorted by similarity, and then by the order of import', () => {
  const words = [1, 2, 3, 4].map((seq) => ({ seq, score: 0.3 }));
  assert.deepEqual(seqs(fuse(words, vectorsOf({}, { 2: 0.1, 4: 0.15 }), even)), [4, 2, 1, 3]);
});

test('a chunk that only the words found has a similarity and no rank', () => {
  const [hit] = fuse([{ seq: 1, score: 0.3 }], vectorsOf({}, { 1: 0.4 }), even);
  assert.deepEqual(hit?.vector, { rank: null, similarity: 0.4 });
});

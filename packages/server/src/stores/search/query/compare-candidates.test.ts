import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVectors, findNearest } from '../vector-codes/testing/random-vectors.fixture.ts';
import { compareNow, type ReadVector } from './compare-candidates.ts';

const { vectors, queries } = createVectors('topics', { count: 600, dimensions: 32 });
const [query = new Float32Array(32)] = queries(1);
/** All vectors, the nearest first. */
const order = findNearest(vectors, query, vectors.length);
const cosine = (seq: number) => query.reduce((sum, value, place) => sum + value * (vectors[seq]?.[place] ?? 0), 0);

/** Compares the `found` nearest vectors, whose bounds are `slack` above their cosines. */
function compare({ found = 400, slack = 0.01, isVisible = (_: number) => true, others = [] as number[] }) {
  const parts: number[] = [];
  const read = (seqs: readonly number[]): ReadVector[] => {
    parts.push(seqs.length);
    return seqs.filter(isVisible).map((seq) => [seq, vectors[seq] as Float32Array]);
  };
  const seqs = Float64Array.from(order.slice(0, found));
  const bounds = Float64Array.from(seqs, (seq) => cosine(seq) + slack);
  const near = { seqs, bounds, rest: found === order.length ? -Infinity : cosine(order[found] as number) + slack };
  return { ...compareNow({ query, near, limit: 20, others }, read), parts };
}

test('a comparison ends at the first bound that the worst result reaches, and reads at most 1.5 times the vectors that it needs', () => {
  for (const slack of [0.01, 0.1, 0.2]) {
    const { nearest, isComplete, parts } = compare({ slack });
    assert.deepEqual([nearest.map(({ seq }) => seq), isComplete], [order.slice(0, 20), true]);
    const needed = order.filter((seq) => cosine(seq) + slack > cosine(order[19] as number)).length;
    const read = parts.reduce((sum, part) => sum + part);
    assert.ok(read <= Math.max(30, 1.5 * needed + 1), `${read} vectors were read, ${needed} were needed`);
  }
});

test('a comparison is complete only if the rest cannot be nearer than the worst result', () => {
  const isVisible = (seq: number) => seq % 10 === 0;
  const visible = order.filter(isVisible);
  assert.equal(compare({ found: 150, isVisible }).isComplete, false);
  const { nearest, isComplete } = compare({ found: 350, isVisible });
  assert.deepEqual([nearest.map(({ seq }) => seq), isComplete], [visible.slice(0, 20), true]);
  assert.deepEqual(compare({ found: 600, isVisible: () => false }).isComplete, true);
});

test('other chunks are compared once, unless they are among the nearest', () => {
  const [first = 0, last = 0] = [order[0], order.at(-1)];
  const { others, parts } = compare({ others: [first, last] });
  assert.deepEqual(
    others.map(({ seq }) => seq),
    [last],
  );
  assert.equal(parts.at(-1), 1);
});

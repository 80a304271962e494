import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCodeTable } from './code-table.ts';
import { normalise, similarity, toCode } from './vectors.ts';

/** Returns pseudo-random numbers, the same in every run. */
function createNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

function vectorsOf(count: number, dimensions: number, next = createNumbers(7)): Float32Array[] {
  return Array.from({ length: count }, () => normalise(Float32Array.from({ length: dimensions }, next)));
}

function fill(vectors: readonly Float32Array[], pageSize = vectors.length) {
  const width = Math.ceil((vectors[0]?.length ?? 0) / 8);
  const table = createCodeTable(width);
  for (let from = 0; from < vectors.length; from += pageSize) {
    const page = vectors.slice(from, from + pageSize);
    table.add(
      Float64Array.from(page, (_, place) => from + place),
      Uint8Array.from(page.flatMap((vector) => [...toCode(vector)])),
    );
  }
  return table;
}

test('candidates are the vectors whose signs match those of the question best, best first, whatever their pages', () => {
  for (const dimensions of [1, 7, 8, 20, 64]) {
    const vectors = vectorsOf(700, dimensions);
    const [query = new Float32Array()] = vectorsOf(1, dimensions, createNumbers(99));
    const agreement = (seq: number) => {
      const vector = vectors[seq] ?? new Float32Array();
      return query.reduce((sum, value, i) => sum + ((vector[i] ?? 0) > 0 ? value : -value), 0);
    };
    const found = [...fill(vectors, 90).nearest(query, 30)];
    const best = vectors.map((_, seq) => agreement(seq)).sort((a, b) => b - a);
    assert.equal(found.length, 30);
    for (const [place, seq] of found.entries()) assert.ok(Math.abs(agreement(seq) - (best[place] ?? 0)) < 1e-4);
  }
});

test('300 candidates of 20,000 similar vectors contain the ten nearest', () => {
  const next = createNumbers(3);
  const centres = vectorsOf(200, 128, next);
  const vectors = Array.from({ length: 20_000 }, (_, n) => {
    const centre = centres[n % centres.length] ?? new Float32Array();
    return normalise(centre.map((value) => value + next() * 0.08));
  });
  const table = fill(vectors);
  let held = 0;
  for (let n = 0; n < 20; n++) {
    const query = normalise((vectors[n * 37] ?? new Float32Array()).map((value) => value + next() * 0.05));
    const exact = vectors.map((vector, seq) => ({ seq, near: similarity(vector, query) }));
    const nearest = exact.sort((a, b) => b.near - a.near).slice(0, 10);
    const candidates = new Set(table.nearest(query, 300));
    held += nearest.filter(({ seq }) => candidates.has(seq)).length;
  }
  assert.ok(held >= 195, `${held} of 200`);
});

test('a search returns a vector that was added twice only once', () => {
  const vectors = vectorsOf(3, 16);
  const table = fill([...vectors, ...vectors]);
  const again = createCodeTable(2);
  const codes = Uint8Array.from(vectors.flatMap((vector) => [...toCode(vector)]));
  again.add(Float64Array.from([5, 6, 7]), codes);
  again.add(Float64Array.from([5, 6, 7]), codes);
  assert.deepEqual([...again.nearest(vectors[0] ?? new Float32Array(), 10)].sort(), [5, 6, 7]);
  assert.equal(table.count, 6);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from './full-text-corpus.suite.ts';
import { createScorePostings, lengthsOfId } from './posting-scores.ts';

const formula = { base: 0.3, perWord: 0.009 };

interface Entry {
  readonly seq: number;
  readonly length: number;
  readonly repeats: number;
}

/** As PostgreSQL writes them, some a row. */
function toPostings(entries: readonly Entry[], weight: number) {
  const rows: Entry[][] = [];
  for (let from = 0; from < entries.length; from += 7) rows.push(entries.slice(from, from + 7));
  const write = (toNumber: (entry: Entry) => number) => rows.map((row) => `{${row.map(toNumber).join()}}`).join();
  return {
    ids: write(({ seq, length }) => seq * lengthsOfId + length),
    repeats: write(({ repeats }) => repeats),
    weight,
  };
}

test('what postings add up to is what adding them up by chunk gives, whatever was scored before', () => {
  const random = createRandom(3);
  const below = (most: number) => Math.floor(random() * most);
  const score = createScorePostings();
  for (const { chunks, spread } of [
    { chunks: 10, spread: 1 },
    { chunks: 3000, spread: 1 },
    { chunks: 900, spread: 100_000_000 },
    { chunks: 40, spread: 7 },
  ]) {
    const all = Array.from({ length: chunks }, (_, n) => ({ seq: 1 + n * spread, length: 1 + below(300) }));
    const words = [900_000_000, 70_000_000, 1_000_000].map((weight) => ({
      weight,
      entries: all.filter(() => random() < 0.4).map((chunk) => ({ ...chunk, repeats: 1 + below(5) })),
    }));
    const expected = new Map<number, number>();
    for (const { weight, entries } of words) {
      for (const { seq, length, repeats } of entries) {
        const points = Math.trunc((weight * repeats) / (repeats + formula.base + formula.perWord * length));
        const id = seq * lengthsOfId + length;
        expected.set(id, (expected.get(id) ?? 0) + points);
      }
    }
    const ranked = [...expected].map(([id, points]) => ({ id, score: points }));
    ranked.sort((a, b) => b.score - a.score || a.id - b.id);
    const postings = words.reduce((sum, { entries }) => sum + entries.length, 0);
    for (const count of [1, 25, chunks * 2]) {
      const found = score(
        words.map(({ entries, weight }) => toPostings(entries, weight)),
        { postings, count, ...formula },
      );
      assert.deepEqual(found, ranked.slice(0, count));
    }
  }
});

test('equal scores stand in the order of their chunks, and no postings are no chunks', () => {
  const score = createScorePostings();
  const same = Array.from({ length: 500 }, (_, n) => ({ seq: 500 - n, length: 9, repeats: 1 }));
  const found = score([toPostings(same, 1_000_000)], { postings: 500, count: 3, ...formula });
  assert.deepEqual(
    found.map(({ id }) => Math.floor(id / lengthsOfId)),
    [1, 2, 3],
  );
  assert.deepEqual(score([], { postings: 0, count: 3, ...formula }), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scoreUnits, weighTerms } from './bm25.ts';

/** Returns the share of a question that the collection knows, from the number of chunks with each of its words. */
function knownShareOf(
  chunks: number,
  counts: Readonly<Record<string, number>>,
  factors: Readonly<Record<string, number>> = {},
) {
  const words = Object.keys(counts).map((word) => ({
    word,
    terms: [word],
    loose: [],
    factor: factors[word] ?? 1,
    floor: 0,
    exactFloor: 0,
    isStop: false,
    isOptional: false,
  }));
  const query = weighTerms(words, (term) => counts[term] ?? 0, { chunks, words: chunks * 100 });
  return Number((query.words.reduce((sum, { weight }) => sum + weight, 0) / scoreUnits).toFixed(6));
}

test('a small collection knows about as much of a question as a large one', () => {
  const small = knownShareOf(1, { car: 1, park: 1, close: 1, rocket: 0 });
  const large = knownShareOf(10_000, { car: 10, park: 10, close: 10, rocket: 0 });
  assert.ok(Math.abs(small - large) < 0.05, `${small} and ${large}`);
  assert.equal(knownShareOf(1, { car: 1, park: 1 }), 1);
});

test('a question of one stop word weighs less than a word', () => {
  assert.equal(knownShareOf(50, { the: 40 }, { the: 0.3 }), 0.3);
  assert.equal(knownShareOf(50, { the: 40, tea: 3 }, { the: 0.3 }), 1);
});

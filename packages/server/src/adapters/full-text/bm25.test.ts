import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scoreUnits, weigh, weighTerms } from './bm25.ts';

/**
 * Returns the words that a search uses in a collection of this many chunks. `shares` gives the share of the chunks that
 * contain each word.
 */
function usedOf(chunks: number, shares: Readonly<Record<string, number>>): string[] {
  const found = new Map(Object.entries(shares).map(([word, share]) => [word, Math.round(chunks * share)]));
  return weigh(Object.keys(shares), found, { chunks, words: chunks * 100 }).words.map(({ word }) => word);
}

test('a question to a larger collection uses only the rarer words, unless all words are common', () => {
  const shares = { the: 0.9, was: 0.3, tea: 0.1, uji: 0.001 };
  assert.deepEqual(usedOf(900, shares), ['the', 'was', 'tea', 'uji']);
  assert.deepEqual(usedOf(1000, shares), ['was', 'tea', 'uji']);
  assert.deepEqual(usedOf(49_999, shares), ['was', 'tea', 'uji']);
  assert.deepEqual(usedOf(50_000, shares), ['tea', 'uji']);
  assert.deepEqual(usedOf(50_000, { the: 0.9, was: 0.3 }), ['the', 'was']);
});

/** Returns the share of a question that the collection knows, from the number of chunks with each of its words. */
function knownShareOf(
  chunks: number,
  counts: Readonly<Record<string, number>>,
  factors: Readonly<Record<string, number>> = {},
) {
  const words = Object.keys(counts).map((word) => ({
    word,
    terms: [word],
    factor: factors[word] ?? 1,
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

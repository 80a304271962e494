import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weigh } from './bm25.ts';

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusLines } from '../../../../test/support/corpus.ts';
import { countWords } from './counted-words.ts';
import { repeatMark } from './extraction.ts';
import { countTokens, mapTokens } from './tokens.ts';
import { cutWords } from './words.ts';

/** Each word once, in the order it is met first. */
function expected(text: string): string[] {
  const counts = new Map<string, number>();
  for (const word of cutWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, times]) => `${word}${repeatMark}${times}`);
}

function counted(text: string): string[] {
  const words = countWords(text);
  return words === '' ? [] : words.split(' ');
}

test('the lines of the corpus have their words', () => {
  const lines = corpusLines(['qa', 'txt', 'md', 'csv']);
  assert.ok(lines.length > 10_000, `only ${lines.length} lines`);
  for (const line of lines) assert.deepEqual(counted(line), expected(line));
});

test('lines of the corpus have the tokens that the pattern finds', () => {
  const lines = corpusLines(['qa', 'txt', 'md', 'csv']);
  for (const line of lines) {
    const map = mapTokens(line);
    assert.equal(countTokens(line), map.tokens(map.numCuts - 1));
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { letters, longHandbook } from '../../../../test/support/sample-texts.ts';
import { countWords } from './counted-words.ts';
import { repeatMark } from './extraction.ts';
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

test('the words of a text are those that are cut, with the times they occur', () => {
  assert.deepEqual(counted("The cat's cats, the CAT"), ['the\u00812', 'cat\u00813']);
  assert.equal(countWords(' … '), '');
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => assert.deepEqual(counted(text), expected(text))));
});

test('text of ASCII alone has the words that any text has', () => {
  const character = fc.oneof(
    fc.constantFrom(...`aZs09_.,:;'"-/ \n`),
    fc.string({ unit: 'binary-ascii', minLength: 1 }),
  );
  fc.assert(
    fc.property(fc.array(character, { maxLength: 100, size: 'max' }), (characters) => {
      const text = characters.join('');
      assert.deepEqual(counted(text), expected(text));
      assert.deepEqual(counted(text), expected(`${text} €`));
    }),
    { numRuns: 2000 },
  );
});

test('a text of many words is counted to the end, and forgotten', () => {
  const text = Array.from({ length: 5000 }, (_, n) => `w${n} w${n % 7} ${'long'.repeat(5)}${n}`).join(' ');
  assert.deepEqual(counted(text), expected(text));
  assert.deepEqual(counted('w1'), ['w1\u00811']);
});

test('the lines of texts in many languages have their words', () => {
  const lines = [...longHandbook().split('\n'), ...letters.map(({ text }) => text)];
  for (const line of lines) assert.deepEqual(counted(line), expected(line));
});

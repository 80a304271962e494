import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { frequencySeparator } from '../../search/analysis/tokenizer.ts';
import { toTerms } from './sqlite-terms.ts';

const word = fc.oneof(
  fc.constantFrom(
    'water',
    "don't",
    'e.g',
    '3.5',
    'snake_case',
    'ё',
    '北京',
    '𝒳',
    '\0',
    '\u0080',
    '\u0082',
    'A',
    'x'.repeat(129),
  ),
  fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[ \u0081]/.test(text)),
);
const counted = fc.uniqueArray(fc.tuple(word, fc.integer({ min: 1, max: 300 })), { selector: ([text]) => text });

function sorted({ terms, length }: ReturnType<typeof toTerms>) {
  return { terms: terms.split(' ').sort(), length };
}

test('words with frequencies produce the same terms as the plain words', () => {
  fc.assert(
    fc.property(counted, (words) => {
      const plain = words.flatMap(([text, times]) => Array.from({ length: times }, () => text)).join(' ');
      const written = words.map(([text, times]) => text + frequencySeparator + times).join(' ');
      assert.deepEqual(sorted(toTerms(written)), sorted(toTerms(plain)));
    }),
  );
});

test('a term consists of the word, encoded where FTS5 would split it, and its frequency', () => {
  const at = (...words: string[]) => toTerms(words.join(' '));
  assert.deepEqual(at('tea', 'water', 'tea'), { terms: 'tea\u00812 water\u00811', length: 3 });
  assert.deepEqual(at('tea\u00812', 'water\u00811'), { terms: 'tea\u00812 water\u00811', length: 3 });
  assert.deepEqual(at("don't\u00812", 'été\u00811'), { terms: 'don\u008027t\u00812 été\u00811', length: 3 });
  assert.deepEqual(at('tea\u00811000'), { terms: 'tea\u0081255', length: 1000 });
  assert.deepEqual(at(), { terms: '', length: 0 });
});

test('a suffix that is not a valid frequency belongs to the word', () => {
  for (const odd of ['tea\u0081', '\u00812', 'tea\u008101', 'tea\u00810', 'a\u0081b\u00812']) {
    const { terms } = toTerms(odd);
    assert.match(terms, /^[^\u0081 ]+\u0081[1-9]\d*$/, JSON.stringify(terms));
  }
});

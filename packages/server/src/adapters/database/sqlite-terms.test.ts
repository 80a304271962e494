import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { repeatMark } from '../../extraction/extraction.ts';
import { createTermWriter } from './sqlite-term-bytes.ts';
import { toIndexRow, toTerms } from './sqlite-terms.ts';

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

test('counted words have the terms of the words themselves', () => {
  fc.assert(
    fc.property(counted, (words) => {
      const plain = words.flatMap(([text, times]) => Array.from({ length: times }, () => text)).join(' ');
      const written = words.map(([text, times]) => text + repeatMark + times).join(' ');
      assert.deepEqual(sorted(toTerms(written)), sorted(toTerms(plain)));
    }),
  );
});

test('a term is its word, encoded where FTS5 would part it, and how often it occurs', () => {
  const at = (...words: string[]) => toTerms(words.join(' '));
  assert.deepEqual(at('tea', 'water', 'tea'), { terms: 'tea\u00812 water\u00811', length: 3 });
  assert.deepEqual(at('tea\u00812', 'water\u00811'), { terms: 'tea\u00812 water\u00811', length: 3 });
  assert.deepEqual(at("don't\u00812", 'été\u00811'), { terms: 'don\u008027t\u00812 été\u00811', length: 3 });
  assert.deepEqual(at('tea\u00811000'), { terms: 'tea\u0081255', length: 1000 });
  assert.deepEqual(at(), { terms: '', length: 0 });
});

test('what is no number of times belongs to the word', () => {
  for (const odd of ['tea\u0081', '\u00812', 'tea\u008101', 'tea\u00810', 'a\u0081b\u00812']) {
    const { terms } = toTerms(odd);
    assert.match(terms, /^[^\u0081 ]+\u0081[1-9]\d*$/, JSON.stringify(terms));
  }
});

test('terms written byte by byte are those made as strings', () => {
  const tag = '1a\u0082';
  const latin1 = fc.nat(255).map((code) => String.fromCharCode(code));
  const ofWords = latin1.filter((character) => !/[\0 \u0081]/.test(character));
  const plain = fc.string({ unit: ofWords, minLength: 1, maxLength: 140 });
  const parts = fc.array(
    fc.tuple(plain, fc.integer({ min: 1, max: 260 })).map(([text, times]) => text + repeatMark + times),
  );
  const any = fc.array(fc.oneof(fc.string({ unit: latin1 }), word));
  const write = createTermWriter(tag);
  let written = 0;
  fc.assert(
    fc.property(fc.oneof(parts, any), (given) => {
      const words = given.join(' ');
      const bytes = write(words);
      if (bytes === undefined) return;
      written += 1;
      const { values, length } = toIndexRow({ seq: 0, words }, tag);
      assert.deepEqual([Buffer.from(bytes.bytes).toString(), bytes.length], [values[1], length]);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(written > 400, `only ${written}`);
  assert.equal(write('北京\u00811'), undefined);
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { letters, longHandbook } from '../../../../../../test/support/sample-texts.ts';
import { countTokens } from '../../extraction/tokens.ts';
import { addWords, foldWords, joinFrequencies, tokenize } from './tokenizer.ts';

/** Returns the terms of a text without regard to its language. */
function countTerms(text: string): string {
  const frequencies = new Map<string, number>();
  for (const term of tokenize(text)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return joinFrequencies(frequencies);
}

const cases: ReadonlyArray<readonly [name: string, text: string, words: readonly string[]]> = [
  ['English', "The cat's 2 kittens, e.g. Tom & Jerry!", ['the', 'cat', '2', 'kitten', 'e.g', 'tom', 'jerry']],
  ['German and French', 'Straße ÜBER Élève naïve', ['strasse', 'uber', 'eleve', 'naive']],
  ['Greek', 'ΟΔΟΣ οδός', ['οδοσ', 'οδοσ']],
  ['Russian', 'Ёлка ёлка ЕЛКА', ['елка', 'елка', 'елка']],
  ['Turkish', 'İstanbul ISPARTA ısparta', ['istanbul', 'isparta', 'isparta']],
  ['Hindi keeps its signs', 'हिन्दी में', ['हिन्दी', 'में']],
  [
    'English plurals and possessives',
    "stories glasses Panthers’ boxes bus's",
    ['story', 'glass', 'panther', 'box', 'bus'],
  ],
  ['Spanish', '¿Cuántos puntos? Las capturas', ['cuanto', 'punto', 'las', 'captura']],
  ['Chinese', '北京天安门', ['北', '北京', '京', '京天', '天', '天安', '安', '安门', '门'].sort()],
  ['Japanese', '東京都に住む', ['東', '京', '都', '住', '東京', '京都', '住む', 'に'].sort()],
  ['Thai', 'ภาษาไทยง่าย', ['ภาษา', 'ไทย', 'ง่าย']],
  ['Korean', '한국어 텍스트', ['한국어', '텍스트']],
  ['Arabic', 'اللغة العربية', ['لغه', 'عرب']],
  ['Arabic with signs and an article', 'وَالكِتَابُ كتاب الأمراء أمراء', ['كتاب', 'كتاب', 'امراء', 'امراء']],
  ['compatibility forms', 'ﬁne ＡＢＣ ①', ['fine', 'abc', '1']],
  ['a soft hyphen is nothing', 'exam\u00adple', ['example']],
];

for (const [name, text, words] of cases) {
  test(`words are tokenized for ${name}`, () => assert.deepEqual(sorted(text, tokenize(text)), words));
}

/** Sorts the words of texts with Chinese characters, because those follow the other words in no particular order. */
function sorted(text: string, words: readonly string[]): readonly string[] {
  return /\p{Script=Han}/u.test(text) ? [...words].sort() : words;
}

test('ASCII text yields the same words alone and inside other text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...`aZ09_.,:;'"-/ \n@s`) }), (text) => {
      assert.deepEqual(tokenize(text), tokenize(`${text} €`));
    }),
    { numRuns: 1000 },
  );
});

test('composed and decomposed letters yield the same words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.deepEqual(tokenize(text.normalize('NFD')), tokenize(text.normalize('NFC')));
    }),
  );
});

test('a question in capitals finds a document in lower case', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      assert.deepEqual(tokenize(text.toUpperCase()), tokenize(text.toLowerCase()));
    }),
  );
});

test('a word has at most 64 characters and never ends inside a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      for (const word of tokenize(text)) assert.ok(word.length <= 64 && word.isWellFormed());
    }),
  );
  assert.equal(tokenize('a'.repeat(1000))[0]?.length, 64);
  assert.ok(tokenize(`a${'𝒳𐐷'.repeat(100)}`).every((word) => word.isWellFormed()));
});

test('each word of a text is counted once, in the order of its first occurrence', () => {
  assert.equal(countTerms("The cat's cats, the CAT"), 'the\u00812 cat\u00813');
  assert.equal(countTerms(' … '), '');
  assert.equal(countTerms('__proto__ constructor __proto__'), '__proto__\u00812 constructor\u00811');
});

test('sample texts in many languages keep their terms, frequencies and numbers of tokens', () => {
  const hash = createHash('sha256');
  const lines = [...longHandbook().split('\n'), ...letters.map(({ text }) => text)];
  for (const line of lines) hash.update(`${countTerms(line)}\n${countTokens(line)}\n`);
  // Stored indexes hold these terms.
  assert.equal(hash.digest('hex'), '4eb6727f3f74b244a9697bd5745380c48385cc4d9ae6c9a2d1548a1616e02c49');
});

test('many marks on one letter take linear time and count as at most 30', () => {
  // Without the bound, Unicode sorts these marks for minutes.
  const marks = '\u0315\u0300'.repeat(100_000);
  assert.deepEqual(foldWords(`a${marks} b`), ['a', 'b']);
});

test('a word with hyphens counts as its parts and as one word', () => {
  const count = (text: string) => {
    const words = new Map<string, number>();
    addWords(words, text);
    return Object.fromEntries(words);
  };
  assert.deepEqual(count('чек-листа'), { чек: 1, листа: 1, чеклиста: 1 });
  assert.deepEqual(count('E\u2010Mail, e-mail'), { e: 2, mail: 2, email: 2 });
  assert.deepEqual(count('state-of-art'), { state: 1, of: 1, art: 1, stateofart: 1 });
  assert.deepEqual(count('Größen-Wahn'), { grossen: 1, '\u0004größen': 1, wahn: 1, grossenwahn: 1 });
  const others = ['- tea', 'a - b', 'a--b', 'a-b-c-d', '-x', 'x-', '2020-05', 'f-16', 'x-日', 'snake_a-b', 'a-b_c'];
  for (const text of others)
    assert.deepEqual(Object.keys(count(text)).sort(), [...new Set(foldWords(text))].sort(), text);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutWords } from './words.ts';

const cases: ReadonlyArray<readonly [name: string, text: string, words: readonly string[]]> = [
  ['English', "The cat's 2 kittens, e.g. Tom & Jerry!", ['the', "cat's", '2', 'kittens', 'e.g', 'tom', 'jerry']],
  ['German and French', 'Straße ÜBER Élève naïve', ['strasse', 'uber', 'eleve', 'naive']],
  ['Greek', 'ΟΔΟΣ οδός', ['οδοσ', 'οδοσ']],
  ['Russian', 'Ёлка ёлка ЕЛКА', ['елка', 'елка', 'елка']],
  ['Turkish', 'İstanbul ISPARTA ısparta', ['istanbul', 'isparta', 'isparta']],
  ['Hindi keeps its signs', 'हिन्दी में', ['हिन्दी', 'में']],
  ['Chinese', '我爱北京天安门。', ['我', '爱', '北京', '天安门']],
  ['Japanese', '東京都に住む', ['東京', '都', 'に', '住む']],
  ['Thai', 'ภาษาไทยง่าย', ['ภาษา', 'ไทย', 'ง่าย']],
  ['Korean', '한국어 텍스트', ['한국어', '텍스트']],
  ['Arabic', 'اللغة العربية', ['اللغة', 'العربية']],
  ['compatibility forms', 'ﬁne ＡＢＣ ①', ['fine', 'abc', '1']],
  ['a soft hyphen is nothing', 'exam\u00adple', ['example']],
];

for (const [name, text, words] of cases) {
  test(`words are cut for ${name}`, () => assert.deepEqual(cutWords(text), words));
}

test('composed and decomposed letters give the same words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.deepEqual(cutWords(text.normalize('NFD')), cutWords(text.normalize('NFC')));
    }),
  );
});

test('a document and a question in capitals meet', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      assert.deepEqual(cutWords(text.toUpperCase()), cutWords(text.toLowerCase()));
    }),
  );
});

test('a word is at most 64 characters, and never half a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      for (const word of cutWords(text)) assert.ok(word.length <= 64 && word.isWellFormed());
    }),
  );
  assert.equal(cutWords('a'.repeat(1000))[0]?.length, 64);
  assert.ok(cutWords(`a${'𝒳𐐷'.repeat(100)}`).every((word) => word.isWellFormed()));
});

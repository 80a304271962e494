import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWords } from './index-words.ts';

const read = (words: string) => {
  const { terms, length } = readWords(words);
  return { ...Object.fromEntries(terms), length };
};

test('the words of a chunk are read with their frequencies', () => {
  assert.deepEqual(read('red blue\u00812 red c++ 世界'), { red: 2, blue: 2, 'c++': 1, 世界: 1, length: 6 });
  assert.deepEqual(read('  red  '), { red: 1, length: 1 });
  assert.deepEqual(read('a\u0081255 b\u0081999999999'), { a: 255, b: 255, length: 65_535 });
});

test('digits that are no frequency belong to the word', () => {
  const words = ['\u00815', 'a\u0081', 'a\u00810', 'a\u008105', 'a\u0081x', 'a\u00811234567890', '007'];
  assert.deepEqual(read(words.join(' ')), { ...Object.fromEntries(words.map((word) => [word, 1])), length: 7 });
  assert.deepEqual(read('a\u00811\u00812'), { 'a\u00811': 2, length: 2 });
});

test('words that cannot be stored are changed', () => {
  const [long, wide] = ['x'.repeat(130), '世'.repeat(129)];
  const expected = { [long.slice(0, 128)]: 2, [wide.slice(0, 128)]: 1, ab: 1, '\ufffd': 1, length: 5 };
  assert.deepEqual(read(`${long}\u00812 ${wide} a\0b \ud800 \0`), expected);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTokens } from '../../extraction/tokens.ts';
import { measureText } from './measure-text.ts';
import { addWords, joinFrequencies } from './tokenizer.ts';

function countWords(text: string): string {
  const words = new Map<string, number>();
  addWords(words, text);
  return joinFrequencies(words);
}

const sentence = 'The quick brown fox jumps over the lazy dog. ';

test('a long text has the same words and tokens in slices as in one piece', async () => {
  for (const text of ['', 'one', sentence.repeat(1400).trim(), 'ماذا تأكل الثعالب في الغابة؟ '.repeat(2000).trim()]) {
    const measured = await measureText(text, countTokens);
    assert.equal(joinFrequencies(measured.words), countWords(text));
    assert.ok(Math.abs(measured.numTokens - countTokens(text)) <= 10, `${measured.numTokens} of ${countTokens(text)}`);
  }
});

test('a text without blanks is divided after punctuation, and no part is lost', async () => {
  const text = '狐狸住在森林里，吃老鼠。'.repeat(4000);
  const { words, numTokens } = await measureText(text, (slice) => slice.length);
  assert.equal(numTokens, text.length);
  assert.equal(joinFrequencies(words), countWords(text));
});

test('no slice ends inside a character', async () => {
  const slices: string[] = [];
  const text = `x${'🦊'.repeat(20_000)}`;
  await measureText(text, (slice) => slices.push(slice));
  assert.equal(slices.join(''), text);
  assert.ok(slices.length > 4);
  assert.ok(slices.every((slice) => slice.isWellFormed()));
});

test('the event loop runs between two slices', async () => {
  let iterations = 0;
  const others = setInterval(() => iterations++, 0);
  await measureText(sentence.repeat(1400), (slice) => {
    for (const until = performance.now() + 5; performance.now() < until; );
    return slice.length;
  });
  clearInterval(others);
  assert.ok(iterations >= 3, `${iterations} turns`);
});

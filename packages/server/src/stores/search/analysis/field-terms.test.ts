import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWords, toTermFrequencies } from './chunk-terms.ts';
import { countFieldTerms } from './field-terms.ts';
import { listTerm } from './term-kinds.ts';
import { frequencySeparator, joinFrequencies } from './tokenizer.ts';

const fields = { title: 'Green tea', heading: 'Uji', question: 'What is tea?', content: 'tea from uji' };

const countedTerms = (words: string) =>
  new Map(words.split(' ').map((term) => term.split(frequencySeparator) as [string, string]));

test('the words of all fields count, except for words of a title or heading that the content has', () => {
  const expected = { green: '1', what: '1', is: '1', tea: '2', from: '1', uji: '1' };
  assert.deepEqual(
    Object.fromEntries([...countedTerms(countFieldTerms(fields))].sort()),
    Object.fromEntries(Object.entries(expected).sort()),
  );
});

test('a content without other fields has its own terms alone', () => {
  const { content } = fields;
  assert.equal(countFieldTerms({ content }), joinFrequencies(toTermFrequencies(countWords(content))));
});

test('a chunk has the words of the name of its file, without the extension', () => {
  const terms = countedTerms(countFieldTerms({ fileName: 'travel-costs_2026.v2.pdf', content: 'x' }));
  assert.deepEqual([...terms.keys()], ['travel', 'cost', '2026', 'v2', 'x']);
});

test('the content decides the language of a heading', () => {
  const content = 'Der Rechner und die Netze sind nicht bekannt.';
  assert.ok(countedTerms(countFieldTerms({ heading: 'Freigaben', content })).has('freigab'));
  assert.ok(!countedTerms(countFieldTerms({ heading: 'Freigaben', content: 'x' })).has('freigab'));
});

test('a table of contents counts as three times as long, and a pair never does', () => {
  const content = Array.from({ length: 6 }, (_, at) => `Tea ${at} ..... ${at + 3}`).join('\n');
  const lengthOf = (words: string) => [...countedTerms(words).values()].reduce((sum, times) => sum + Number(times), 0);
  const plain = lengthOf(joinFrequencies(toTermFrequencies(countWords(content))));
  assert.equal(lengthOf(countFieldTerms({ content })), 3 * plain);
  assert.equal(countedTerms(countFieldTerms({ question: 'Tea', content })).has(listTerm), false);
});

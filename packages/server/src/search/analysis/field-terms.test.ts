import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countFieldTerms } from './field-terms.ts';
import { countTerms, frequencySeparator } from './tokenizer.ts';

const fields = { title: 'Green tea', heading: 'Uji', question: 'What is tea?', content: 'tea from uji' };

test('a term counts once for each field that has it, times the weight of the field', () => {
  const terms = countFieldTerms(fields, { title: 3, heading: 2, question: 0, content: 1 }).split(' ');
  assert.deepEqual(
    new Map(terms.map((term) => term.split(frequencySeparator) as [string, string])),
    new Map([
      ['green', '3'],
      ['tea', '4'],
      ['uji', '3'],
      ['from', '1'],
    ]),
  );
});

test('only the content is indexed at present, with the terms of the earlier versions', () => {
  assert.equal(countFieldTerms(fields), countTerms(fields.content));
});

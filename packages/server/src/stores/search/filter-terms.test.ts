import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listFilterTerms, numberTerm } from './filter-terms.ts';

test('a chunk has terms for its record and its entries, which replace those of its record', () => {
  const terms = listFilterTerms({
    recordId: 'rec1',
    metadata: { lang: 'en', year: 2020, isNew: true, none: null, list: ['x'] },
    recordMetadata: { lang: 'de', page: '7', none: 'x' },
  });
  const expected = [
    ...['rrec1', 'tlang\u0001en', 'nyear\u0001c09f9', 'bisNew\u0001true', 'olist'],
    ...['tpage\u00017', 'npage\u0001c01c'],
  ];
  assert.deepEqual(new Set(terms), new Set(expected.map((term) => `\u0001${term}`)));
});

test('an entry whose terms are those of other entries, too, has a vague term', () => {
  const termsOf = (metadata: Record<string, unknown>) =>
    listFilterTerms({ recordId: null, metadata, recordMetadata: {} }).map((term) => term.slice(1));
  assert.deepEqual(termsOf({ a: 'x'.repeat(127) }), [`ta\u0001${'x'.repeat(127)}`]);
  assert.deepEqual(termsOf({ a: 'x'.repeat(128) }), ['wa', `ta\u0001${'x'.repeat(128)}`]);
  assert.deepEqual(termsOf({ a: 'b\0c' }), ['wa', 'ta\u0001b', 'ta\u0001b\uffff']);
  assert.deepEqual(termsOf({ a: 'b\ud800c' }), ['wa', 'ta\u0001b', 'ta\u0001b\uffff']);
  assert.deepEqual(termsOf({ 'a\u0001b': true }), ['wa', 'ba\u0001true']);
});

test('the terms of numbers are in the order of the numbers, and integers below 2^41 have terms of their own', () => {
  const numbers = [
    ...[-1e308, -1e21, -(2 ** 41) + 1, -1000, -2.5, -1, -0.1, 0, 0.1, 0.5, 1, 2, 2.5, 3, 1000, 123456789],
    ...[2 ** 40 - 1, 2 ** 40, 2 ** 41 - 1, 2 ** 53, 1e21, 1e200, 1e308],
  ];
  const terms = numbers.map((number) => numberTerm('k', number, true));
  assert.deepEqual(terms, terms.toSorted());
  assert.equal(new Set(terms).size, terms.length);
  assert.equal(numberTerm('k', -0, true), numberTerm('k', 0, true));
  for (const integer of [-(2 ** 41) + 1, -7, 0, 5, 2 ** 40 - 1]) {
    const exact = numberTerm('k', integer, true);
    const [before, after] = [-Number.EPSILON, Number.EPSILON].map((part) => integer + part * (Math.abs(integer) || 1));
    assert.ok(numberTerm('k', before as number, true) < exact);
    assert.ok(exact < numberTerm('k', after as number, true));
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareTerms } from './segment-format.ts';

test('terms in UTF-8 have the order of JavaScript strings, also beyond U+FFFF', () => {
  const letters = ['a', 'b', '\u0001', '\u007f', '\u0080', 'é', '\u07ff', '\u0800', '世', '\ud7ff', '\ue000', '\uffff'];
  const all = [...letters, '\u{10000}', '😀', '\u{10ffff}'];
  const terms = ['', ...all, ...all.flatMap((a) => all.flatMap((b) => [`${a}${b}`, `aaa${a}${b}`, `aaaa${a}${b}`]))];
  const encoder = new TextEncoder();
  const encoded = terms.map((term) => encoder.encode(term));
  let compared = 0;
  for (const [first, a] of terms.entries()) {
    for (const [second, b] of terms.entries()) {
      const expected = a < b ? -1 : a > b ? 1 : 0;
      const [left, right] = [encoded[first] as Uint8Array, encoded[second] as Uint8Array];
      assert.equal(Math.sign(compareTerms(left, right)), expected, JSON.stringify([a, b]));
      compared++;
    }
  }
  assert.equal(compared, terms.length ** 2);
});

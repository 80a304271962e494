import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut } from './cut-text.ts';

const family = '👨‍👩‍👧'; // 8 characters
const e = 'e\u0301';

test('a text is cut at the border of a grapheme, and never within a surrogate pair', () => {
  const cases: ReadonlyArray<readonly [string, number, string]> = [
    ['plain text', 5, 'plain'],
    ['short', 5, 'short'],
    [`ab${family}`, 9, 'ab'],
    [`ab${family}c`, 10, `ab${family}`],
    [`cafe${e}`, 5, 'cafe'],
    [`cafe${e}s`, 6, `cafe${e}`],
    ['a😀b', 2, 'a'],
    [`${'x'.repeat(499)}${family}`, 500, 'x'.repeat(499)],
    // A grapheme that is longer than the examined part is cut, but no pair is.
    [`a${'\u0301'.repeat(200)}`, 100, `a${'\u0301'.repeat(99)}`],
    [`${'👩‍'.repeat(50)}`, 100, `${'👩‍'.repeat(33)}`],
  ];
  for (const [text, length, expected] of cases) {
    const result = cut(text, length);
    assert.equal(result, expected);
    assert.ok(result.isWellFormed());
  }
});

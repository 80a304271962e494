import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Problem } from '../../../platform/problem.ts';
import { parseDisposition } from '../content-disposition.ts';
import { readParameters, trimBlanks } from './disposition-parameters.ts';
import { readPartHeaders } from './part-headers.ts';

/**
 * Parses a quoted value with a regular expression. Its time is exponential in the number of backslashes, so it reads
 * short texts only.
 */
function quotedByPattern(text: string): { value: string; length: number } | null {
  const match = /^"((?:\\["\\]|[^"])*)"/.exec(text);
  return match && { value: (match[1] ?? '').replace(/\\(["\\])/g, '$1'), length: match[0].length };
}

function parametersOf(text: string): [string, string][] | null {
  try {
    return [...readParameters(text, 0)];
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'INVALID_REQUEST');
    return null;
  }
}

test('a quoted value is parsed as the regular expression does, whatever it contains', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', 'a', ';', ' '), maxLength: 16 });
  fc.assert(
    fc.property(text, (after) => {
      const expected = quotedByPattern(`"${after}`);
      const rest = expected === null ? '' : `"${after}`.slice(expected.length);
      // This test covers only values that end the text or a parameter.
      if (expected !== null && rest.trim() !== '') return;
      assert.deepEqual(parametersOf(`;n="${after}`), expected && [['n', expected.value]]);
    }),
    { numRuns: 5000 },
  );
});

test('blanks are trimmed at both ends and nowhere else', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(' ', '\t', 'a', '\n'), maxLength: 12 }), (text) => {
      assert.equal(trimBlanks(text), text.replace(/^[ \t]+|[ \t]+$/g, ''));
    }),
    { numRuns: 2000 },
  );
});

test('a quoted value of backslashes without an end is refused in one pass', () => {
  // A parser that backtracks at each backslash does not finish these.
  for (const count of [64, 8_000, 2_000_000]) {
    const value = `form-data; name="file"; filename="${'\\'.repeat(count)}`;
    assert.throws(() => parseDisposition(value), { message: /a quoted value does not end/ });
    assert.equal(parseDisposition(`${value}"`).filename, '', 'an even number, then the end: a path without a name');
    assert.equal(parseDisposition(`${value}x"`).filename, 'x');
  }
});

test('blanks in the middle of a header are read once', () => {
  const blanks = '\t'.repeat(4_000_000);
  const block = `Content-Disposition: form-data; name="a"\r\nX-Y: a${blanks}b`;
  assert.equal(readPartHeaders(block, 16).name, 'a');
  const parameters = readParameters(`; a=1${blanks};${blanks}b=2${blanks}`, 0);
  assert.deepEqual(
    [...parameters],
    [
      ['a', '1'],
      ['b', '2'],
    ],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPieceFinder } from './find-pieces.ts';
import { RedactionRefused } from './redaction-budget.ts';

/** Replaces with a regular expression: the leftmost match, and the longest of those that start at the same place. */
function replacedByPattern(text: string, pieces: readonly string[]): string {
  const longestFirst = [...pieces].sort((a, b) => b.length - a.length);
  return text.replace(new RegExp(longestFirst.map((piece) => RegExp.escape(piece)).join('|'), 'g'), '#');
}

test('pieces are replaced like the matches of a regular expression that alternates all of them', () => {
  const letters = fc.constantFrom('a', 'b', '"', '\\', 'ü');
  const piece = fc.string({ unit: letters, minLength: 4, maxLength: 7 });
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 8 }),
      fc.string({ unit: letters, maxLength: 60 }),
      (pieces, text) => {
        const finder = createPieceFinder(pieces);
        const replaced = replacedByPattern(text, pieces);
        assert.equal(finder.replace(text, '#'), replaced);
        assert.equal(finder.has(text), replaced !== text);
      },
    ),
    { numRuns: 3000 },
  );
});

test('a piece that is rejected in one place can still be found in another', () => {
  const finder = createPieceFinder(['pass', 'passport'], (text, start) => text[start - 1] !== 'x');
  assert.equal(finder.replace('xpassport passport pass', '#'), 'xpassport # #');
});

test('a text that almost matches the pieces everywhere is refused before it is searched completely', () => {
  // Every position of the text matches the beginning and the end of the piece, but not its middle.
  const finder = createPieceFinder([`${'a'.repeat(4000)}b${'a'.repeat(4000)}`]);
  assert.throws(() => finder.has('a'.repeat(1_000_000)), RedactionRefused);
  assert.throws(() => finder.replace('a'.repeat(1_000_000), '#'), RedactionRefused);
  assert.equal(finder.has('b'.repeat(1_000_000)), false);
});

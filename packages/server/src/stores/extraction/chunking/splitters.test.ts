import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countTokens as reference } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode, letters, longHandbook } from '../../../../../../test/support/sample-texts.ts';
import { countTokens, mapTokens } from '../tokens.ts';
import { splitBySeparators } from './separator-splitter.ts';
import { splitByTokens, type TextPiece } from './token-splitter.ts';

const texts = fc.oneof(
  fc.lorem({ maxCount: 300, size: 'max' }),
  fc.string({ unit: 'grapheme', maxLength: 1000, size: 'max' }),
  fc
    .array(
      fc.constantFrom(
        'word',
        ' ',
        '\n',
        '  ',
        '天安门',
        '👨‍👩‍👧',
        'é',
        '3.14',
        '=====',
        "'s",
        'Donaudampfschiff',
        '\t',
      ),
      { maxLength: 500, size: 'max' },
    )
    .map((parts) => parts.join('')),
);
const sizes = fc
  .integer({ min: 50, max: 200 })
  .chain((size) => fc.record({ size: fc.constant(size), overlap: fc.integer({ min: 0, max: Math.floor(size / 2) }) }));

function contents(text: string, cuts: Iterable<TextPiece>): string[] {
  return [...cuts].map((cut) => text.slice(cut.start, cut.end));
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '');
}

test('tokens are counted as other implementations of cl100k_base count them', () => {
  const chinese = letters.find(({ encodings }) => encodings.includes('gb18030'))?.text ?? '';
  for (const text of [encode(chinese.repeat(20), 'gb18030').toString('latin1'), longHandbook()]) {
    assert.equal(countTokens(text), reference(text));
  }
  fc.assert(
    fc.property(texts, (text) => assert.equal(countTokens(text), reference(text, { disallowedSpecial: new Set() }))),
  );
});

test('the token map of a text ends at its last character and has all its tokens', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const map = mapTokens(text);
      assert.equal(map.offset(map.numCuts - 1), text.length);
      assert.equal(map.tokens(map.numCuts - 1), countTokens(text));
    }),
  );
});

test('with overlap every character of the text is in a chunk, in order', () => {
  fc.assert(
    fc.property(texts, sizes, (text, sizes) => {
      let reached = 0;
      let start = -1;
      for (const cut of splitByTokens(text, sizes)) {
        assert.equal(text.slice(reached, cut.start).trim(), '');
        assert.ok(cut.start > start, 'chunks move forward');
        assert.ok(cut.end > reached, 'every chunk has something new');
        start = cut.start;
        reached = cut.end;
      }
      assert.equal(text.slice(reached).trim(), '');
    }),
  );
});

test('a piece of the overlap alone is not a chunk', () => {
  // Cut off from the text before it, the overlap takes more tokens than within the text.
  const text = `天安门天安门${'Donaudampfschiff'.repeat(2)}wordwordwordword\tDonaudampfschiffwordDonaudampfschiffword\té${'word'.repeat(2)}  's 's3.143.14`;
  const cuts = [...splitByTokens(text, { size: 52, overlap: 23 })];
  for (const [at, cut] of cuts.slice(1).entries()) assert.ok(cut.end > (cuts[at]?.end ?? 0));
});

test('a piece does not begin where the one before began', () => {
  const family = '👨‍👩‍👧';
  const text = `${'word'.repeat(4)}天安门${'word'.repeat(2)}${family}word${family}word  3.14天安门${'word'.repeat(4)}Donaudampfschiffword3.14  ${family.repeat(3)}`;
  const starts = [...splitByTokens(text, { size: 60, overlap: 22 })].map(({ start }) => start);
  assert.deepEqual(
    starts,
    [...new Set(starts)].sort((a, b) => a - b),
  );
});

test('a chunk has at most as many tokens as the chunk size, and states its number', () => {
  fc.assert(
    fc.property(texts, sizes, (text, given) => {
      for (const cut of splitByTokens(text, given)) {
        const content = text.slice(cut.start, cut.end);
        assert.equal(cut.numTokens, countTokens(content));
        assert.ok(cut.numTokens <= given.size, `${cut.numTokens} of ${given.size}`);
        assert.ok(content.isWellFormed() || !text.isWellFormed());
        assert.equal(content, content.trim());
      }
    }),
  );
});

test('prose is split into about ⌈(n − overlap) / (size − overlap)⌉ chunks of similar size', () => {
  const text = longHandbook();
  for (const given of [
    { size: 400, overlap: 0 },
    { size: 400, overlap: 100 },
    { size: 100, overlap: 50 },
  ]) {
    const cuts = [...splitByTokens(text, given)];
    const expected = Math.ceil((countTokens(text) - given.overlap) / (given.size - given.overlap));
    assert.ok(Math.abs(cuts.length - expected) <= 1 + expected / 7, `${cuts.length} instead of ${expected}`);
    const smallest = Math.min(...cuts.map((cut) => cut.numTokens));
    assert.ok(smallest >= given.size * 0.6, `${smallest} of ${given.size}`);
  }
});

test('neighbouring chunks share about as many tokens as the overlap', () => {
  const text = longHandbook();
  const cuts = [...splitByTokens(text, { size: 200, overlap: 50 })];
  for (const [index, cut] of cuts.slice(1).entries()) {
    const shared = countTokens(text.slice(cut.start, cuts[index]?.end));
    assert.ok(shared >= 30 && shared <= 52, String(shared));
  }
});

test('the separator splitter loses nothing but separators and blanks', () => {
  fc.assert(
    fc.property(texts, fc.constantFrom(['\n'], [' ', '\n'], ['word', '3.'], ['天', '=']), (text, separators) => {
      const chunks = contents(text, splitBySeparators(text, separators, { size: 50, overlap: 0 }));
      let expected = text;
      for (const separator of separators) expected = expected.replaceAll(separator, '');
      let remaining = chunks.join('');
      for (const separator of separators) remaining = remaining.replaceAll(separator, '');
      assert.equal(withoutBlanks(remaining), withoutBlanks(expected));
      for (const chunk of chunks) {
        assert.notEqual(chunk.trim(), '');
        assert.ok(countTokens(chunk) <= 50);
      }
    }),
  );
});

test('the separator splitter cuts at each separator in turn', () => {
  const text = 'one; two\n\nthree; \n\n  \n\nfour';
  const cuts = splitBySeparators(text, ['\n\n', ';'], { size: 1000, overlap: 0 });
  assert.deepEqual(contents(text, cuts), ['one', 'two', 'three', 'four']);
  assert.deepEqual(contents('abc', splitBySeparators('abc', ['ab', 'bc'], { size: 50, overlap: 0 })), ['c']);
});

test('a section longer than the size is cut by tokens', () => {
  const long = 'word '.repeat(500).trim();
  const text = `short|${long}|end`;
  const cuts = [...splitBySeparators(text, ['|'], { size: 100, overlap: 0 })];
  assert.equal(cuts.length, 7);
  assert.equal(
    cuts
      .slice(1, 6)
      .map((cut) => text.slice(cut.start, cut.end))
      .join(' '),
    long,
  );
});

test('long texts without a break are cut in linear time', () => {
  for (const run of ['a', 'ab1', ' ', '\n', '=', '天', '👨‍👩‍👧', 'x\u0301', '"']) {
    const text = run.repeat(200_000);
    const chunks = contents(text, splitByTokens(text, { size: 1000, overlap: 0 }));
    assert.equal(withoutBlanks(chunks.join('')), withoutBlanks(text));
  }
});

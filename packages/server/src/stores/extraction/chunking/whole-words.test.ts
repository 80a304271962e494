import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { longHandbook } from '../../../../../../test/support/sample-texts.ts';
import { splitByTokens } from './token-splitter.ts';

const numbered = (count: number, line: (at: number) => string) => Array.from({ length: count }, (_, at) => line(at));
const splits = [
  { size: 50, overlap: 0 },
  { size: 100, overlap: 0 },
  { size: 200, overlap: 0 },
  { size: 100, overlap: 20 },
  { size: 100, overlap: 50 },
] as const;

/** Texts with blanks between their words, and whether each of them ends most pieces at the end of a sentence. */
const texts: Readonly<Record<string, { readonly text: string; readonly hasSentences: boolean }>> = {
  serials: {
    text: numbered(600, (at) => `Part SN${String(7919 * at).padStart(7, '0')}X is of U${at}-A.`).join(' '),
    hasSentences: true,
  },
  dates: {
    text: numbered(600, (at) => `2026-01-${10 + (at % 20)}T08:${10 + (at % 50)}:00Z id=${at}f3a9`).join('\n'),
    hasSentences: false,
  },
  addresses: {
    text: numbered(
      300,
      (at) => `see https://example.com/a/${at}?q=${at * 31}, or write to user.${at}@example.org`,
    ).join(' '),
    hasSentences: false,
  },
  identifiers: { text: numbered(500, (at) => `config_file_${at}.yaml`).join(' '), hasSentences: false },
  handbook: { text: longHandbook(), hasSentences: true },
};

function* piecesOf(text: string, sizes: (typeof splits)[number]) {
  for (const { start, end, numTokens } of splitByTokens(text, sizes)) {
    assert.ok(numTokens <= sizes.size, `${numTokens} of ${sizes.size}`);
    yield { start, end, content: text.slice(start, end) };
  }
}

for (const [name, { text, hasSentences }] of Object.entries(texts)) {
  test(`the token splitter cuts no word of ${name}`, () => {
    for (const sizes of splits) {
      let stops = 0;
      const pieces = [...piecesOf(text, sizes)];
      for (const { start, end, content } of pieces) {
        assert.match(text.charAt(start - 1), /^\s?$/, `before ${content.slice(0, 30)}`);
        assert.match(text.charAt(end), /^\s?$/, `after ${content.slice(-30)}`);
        if (/[.!?]$/.test(content)) stops++;
      }
      if (hasSentences) assert.ok(stops >= 0.6 * pieces.length, `${stops} of ${pieces.length} with ${sizes.size}`);
    }
  });
}

test('each word of a text is in a piece, whatever its length', () => {
  const word = fc.string({ unit: fc.constantFrom(...'aZ09_-.é'), minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 200, size: 'max' }), fc.constantFrom(...splits), (words, sizes) => {
      const found = new Set([...piecesOf(words.join(' '), sizes)].flatMap(({ content }) => content.split(/\s+/)));
      assert.deepEqual(
        words.filter((each) => !found.has(each)),
        [],
      );
    }),
  );
});

test('a word behind an overlap is whole when it fits only without the overlap', () => {
  const long = Array.from({ length: 30 }, (_, at) => `k${at * 37}`).join('-');
  const text = `${'word '.repeat(70)}${long} ${'word '.repeat(70)}`;
  const pieces = [...piecesOf(text, { size: 100, overlap: 50 })];
  assert.ok(pieces.some(({ content }) => content.includes(long)));
});

test('only a word that is longer than a piece is cut, and beside a sign if it has one', () => {
  const path = `/${numbered(100, (at) => `folder${at}`).join('/')}`;
  const pieces = [...piecesOf(`before ${path} after`, { size: 100, overlap: 0 })].map(({ content }) => content);
  assert.ok(pieces.length > 2);
  assert.equal(pieces.join('').replaceAll(' ', ''), `before${path}after`);
  for (const content of pieces.slice(1, -1)) assert.match(content, /^\/|\/$/);
});

test('Chinese and Japanese text is cut at the end of sentences', () => {
  for (const sentence of ['狐狸住在森林里吃老鼠和浆果。', 'サーバーを再起動してください。']) {
    const pieces = [...piecesOf(sentence.repeat(100), { size: 100, overlap: 0 })];
    assert.ok(pieces.every(({ content }) => content.endsWith('。')));
  }
});

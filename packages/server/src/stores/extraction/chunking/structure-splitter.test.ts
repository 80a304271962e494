import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { longHandbook } from '../../../../../../test/support/sample-texts.ts';
import { type Block, layOut } from '../document.ts';
import { readMarkdown } from '../formats/read-markdown.ts';
import { countTokens } from '../tokens.ts';
import { type StructureCut, splitByStructure } from './structure-splitter.ts';

function chunksOf(
  blocks: readonly Block[],
  size: number,
  formSize = size,
): { text: string; chunks: string[]; cuts: StructureCut[] } {
  const laidOut = layOut({ blocks, facts: {}, warnings: [] });
  const cuts = [...splitByStructure(laidOut.text, laidOut.blocks, size, formSize)];
  const chunks = cuts.map((cut) => {
    const slice = laidOut.text.slice(cut.start, cut.end);
    return cut.header === undefined ? slice : `${cut.header}\n${slice}`;
  });
  return { text: laidOut.text, chunks, cuts };
}

const sentence = (name: string) => `The ${name} sentence says what there is to say.`;
const prose = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => sentence(`${name}-${index}`)).join(' ');

const blocks = fc.array(
  fc.record({
    kind: fc.constantFrom('heading', 'paragraph', 'list_item', 'table', 'code' as const),
    text: fc.oneof(
      fc.lorem({ maxCount: 120, size: 'max' }),
      fc.array(fc.lorem({ maxCount: 6 }), { maxLength: 40, size: 'max' }).map((lines) => lines.join('\n')),
      fc.string({ unit: 'grapheme', maxLength: 400, size: 'max' }),
      fc
        .array(
          fc.tuple(fc.lorem({ maxCount: 2 }), fc.nat()).map((pair) => pair.join(': ')),
          { maxLength: 40 },
        )
        .map((lines) => lines.join('\n')),
    ),
    page: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 12, size: 'max' },
);

test('every character except blanks is in exactly one chunk, in order, and no chunk is larger than the chunk size', () => {
  fc.assert(
    fc.property(blocks, fc.integer({ min: 50, max: 400 }), (some, size) => {
      const { text, chunks, cuts } = chunksOf(some, size);
      const slices = cuts.map((cut) => text.slice(cut.start, cut.end)).join('');
      assert.equal(slices.replace(/\s+/g, ''), text.replace(/\s+/g, ''));
      for (const [index, chunk] of chunks.entries()) {
        assert.ok(countTokens(chunk) <= size, chunk);
        assert.equal(cuts[index]?.numTokens, countTokens(chunk));
      }
    }),
  );
});

test('a section begins a chunk, and its heading stays with it', () => {
  const { chunks } = chunksOf(
    [
      { kind: 'heading', text: 'First', level: 1 },
      { kind: 'paragraph', text: prose('one', 20) },
      { kind: 'heading', text: 'Second', level: 1 },
      { kind: 'heading', text: 'Deeper', level: 2 },
      { kind: 'paragraph', text: prose('two', 25) },
    ],
    400,
  );
  assert.deepEqual(
    chunks.map((chunk) => chunk.slice(0, 22)),
    ['First\n\nThe one-0 sente', 'Second\n\nDeeper\n\nThe tw'],
  );
});

test('a text before the first heading stays with the section below a quarter of a chunk, and is a chunk from then on', () => {
  const section: Block[] = [
    { kind: 'heading', text: 'First', level: 1 },
    { kind: 'paragraph', text: prose('one', 10) },
  ];
  const seen = new Set<boolean>();
  for (let sentences = 1; sentences <= 15; sentences++) {
    const text = prose('intro', sentences);
    const { chunks } = chunksOf([{ kind: 'paragraph', text }, ...section], 400);
    const stays = countTokens(text) + 1 < 100;
    seen.add(stays);
    assert.deepEqual([chunks.length, chunks[0] === text], stays ? [1, false] : [2, true], `${sentences} sentences`);
  }
  assert.equal(seen.size, 2);
});

test('a paragraph that does not fit is cut between its sentences', () => {
  const { chunks } = chunksOf([{ kind: 'paragraph', text: prose('long', 100) }], 100);
  assert.ok(chunks.length > 5);
  for (const chunk of chunks) assert.match(chunk, /^The long-\d+ .*say\.$/);
});

test('each chunk of a table begins with the header and contains whole rows', () => {
  const rows = Array.from({ length: 60 }, (_, index) => `${index} | ${sentence('cell')}`);
  const table = { kind: 'table', text: ['Number | Sentence', ...rows].join('\n'), headerRows: 1 } as const;
  const { chunks } = chunksOf([{ kind: 'paragraph', text: 'Before.' }, table], 120);
  assert.ok(chunks.length > 4);
  for (const chunk of chunks) assert.match(chunk, /^(?:Before\.\n\n)?Number \| Sentence\n\d+ \| .*say\.$/s);
});

test('a table and a piece of code that fit stay whole', () => {
  const code = Array.from({ length: 12 }, (_, index) => `  call(${index});\n`).join('\n');
  const table = Array.from({ length: 20 }, (_, index) => `${index} | x`).join('\n');
  const { chunks } = chunksOf(
    [
      { kind: 'paragraph', text: prose('p', 12) },
      { kind: 'code', text: code },
      { kind: 'paragraph', text: prose('q', 12) },
      { kind: 'table', text: table },
    ],
    180,
  );
  assert.ok(chunks.some((chunk) => chunk.includes(code.trimEnd())));
  assert.ok(chunks.some((chunk) => chunk.includes(table)));
});

test('a list that fits is in one chunk, together with its introduction', () => {
  const items = Array.from(
    { length: 8 },
    (_, index) => ({ kind: 'list_item', text: `• ${sentence(`item-${index}`)}` }) as const,
  );
  const { chunks } = chunksOf(
    [
      { kind: 'paragraph', text: prose('before', 8) },
      { kind: 'paragraph', text: 'You need:' },
      ...items,
      { kind: 'paragraph', text: prose('after', 8) },
    ],
    180,
  );
  const list = ['You need:', items.map(({ text }) => text).join('\n')].join('\n\n');
  assert.ok(
    chunks.some((chunk) => chunk.includes(list)),
    chunks.join('\n---\n'),
  );
  assert.ok(chunks[0]?.endsWith('say.'), 'the introduction moves with its list');
});

test('a list that does not fit is cut between its items', () => {
  const items = Array.from(
    { length: 60 },
    (_, index) => ({ kind: 'list_item', text: `• ${sentence(`item-${index}`)}` }) as const,
  );
  const { chunks } = chunksOf([{ kind: 'paragraph', text: 'You need:' }, ...items], 120);
  assert.ok(chunks.length > 5);
  for (const chunk of chunks) assert.match(chunk, /^(?:You need:\n\n)?• .*say\.$/s);
});

test('no chunk of a long document begins inside a word, and a second split gives the same chunks', () => {
  const document = readMarkdown(Buffer.from(longHandbook()));
  const { text, cuts } = chunksOf(document.blocks, 400);
  assert.ok(cuts.length > 15);
  for (const { start } of cuts) assert.doesNotMatch(text.slice(Math.max(0, start - 1), start + 1), /^\w\w$/);
  assert.deepEqual(chunksOf(document.blocks, 400).cuts, cuts);
});

test('a heading shares a chunk with the beginning of what follows, however long that is', () => {
  for (const length of [31, 32, 33, 34, 35, 60]) {
    const { chunks } = chunksOf(
      [
        { kind: 'paragraph', text: prose('before', 30) },
        { kind: 'heading', text: 'A heading that says what the section is about', level: 1 },
        { kind: 'heading', text: 'Deeper', level: 2 },
        { kind: 'paragraph', text: prose('text', length) },
      ],
      400,
    );
    const lead = chunks.find((chunk) => chunk.startsWith('A heading'));
    assert.match(lead ?? '', /Deeper\n\nThe text-0 /, `${length} sentences`);
  }
});

const bill = (name: string, page: number): Block[] => [
  { kind: 'paragraph', text: `Estimate for ${name}`, page },
  {
    kind: 'table',
    text: ['Item | Price', ...Array.from({ length: 30 }, (_, at) => `Part ${at} | ${at},50`)].join('\n'),
    page,
  },
  { kind: 'paragraph', text: 'Grand total: 465.00', page },
];

test('each part of a table names the head lines of its own page and the columns', () => {
  const { chunks, cuts, text } = chunksOf([...bill('Mill Lane', 1), ...bill('Oak Street', 2)], 90);
  assert.ok(chunks.length > 6);
  for (const [at, chunk] of chunks.entries()) {
    const name = (cuts[at]?.start ?? 0) < text.indexOf('Estimate for Oak') ? 'Mill Lane' : 'Oak Street';
    assert.match(chunk, new RegExp(`^Estimate for ${name}`));
    if (/Part/.test(chunk)) assert.match(chunk, /Item \| Price/);
  }
});

test('a page that is a form is one chunk up to its own size, and another page is not', () => {
  const values = (page: number, count: number): Block[] => [
    { kind: 'heading', text: 'Registration', level: 1, page },
    ...Array.from({ length: count }, (_, at): Block => ({ kind: 'paragraph', text: `Field ${at}: value ${at}`, page })),
  ];
  const before: Block = { kind: 'paragraph', text: prose('before', 15), page: 1 };
  const { chunks } = chunksOf([before, ...values(2, 25), ...values(3, 60)], 200, 300);
  assert.equal(chunks[1]?.match(/Field/g)?.length, 25);
  assert.ok(countTokens(chunks[1] ?? '') > 200);
  for (const chunk of chunks.slice(2)) assert.match(chunk, /^Registration\n+Field/);
  const prosePage = chunksOf([before, { ...before, page: 2 }, { ...before, page: 2 }], 200, 300);
  for (const chunk of prosePage.chunks) assert.ok(countTokens(chunk) <= 200);
});

test('without pages, each part of a table begins with the headings above it', () => {
  const rows = Array.from({ length: 60 }, (_, index) => `${index} | ${sentence('cell')}`);
  const { chunks } = chunksOf(
    [
      { kind: 'heading', text: 'Prices', level: 1 },
      { kind: 'heading', text: 'Old', level: 2 },
      { kind: 'heading', text: 'Winter', level: 2 },
      { kind: 'table', text: ['Number | Sentence', ...rows].join('\n'), headerRows: 1 },
    ],
    120,
  );
  assert.ok(chunks.length > 4);
  for (const chunk of chunks.slice(1)) assert.match(chunk, /^Prices\nWinter\nNumber \| Sentence\n\d+ \| /);
});

test('a table whose columns have long names fits below the head of its page', () => {
  const head = 'Estimate for the house in Mill Lane';
  for (let words = 1; words <= 60; words++) {
    const text = [
      prose('column', 6),
      'x '.repeat(words).trim(),
      ...Array.from({ length: 9 }, () => sentence('row')),
    ].join('\n');
    const { chunks } = chunksOf(
      [
        { kind: 'paragraph', text: head, page: 1 },
        { kind: 'paragraph', text: prose('before', 8), page: 1 },
        { kind: 'table', text, headerRows: 1, page: 1 },
      ],
      120,
    );
    assert.ok(chunks.length > 2);
    for (const chunk of chunks) assert.ok(countTokens(chunk) <= 120, chunk);
  }
});

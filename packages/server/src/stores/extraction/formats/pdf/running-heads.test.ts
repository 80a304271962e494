import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { type Placed, pdfOf } from '../testing/documents.fixture.ts';
import { readPdf } from './read-pdf.ts';

const top = 770;
const bottom = 30;
const bodyOf = (page: number): Placed[] =>
  Array.from({ length: 5 }, (_, line) => ({
    x: 50,
    y: 700 - 14 * line,
    text: `Body ${page} holds line ${line} of prose.`,
  }));

/** Reads a document whose pages have the same body and these lines at their edges. */
async function read(edges: ReadonlyArray<readonly Placed[]>, body = bodyOf) {
  const document = await readPdf(pdfOf(edges.map((lines, index) => [...lines, ...body(index + 1)])));
  const { text } = layOut(document);
  return { text, dropped: document.facts.dropped?.running_heads };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const at = (y: number, text: string, size?: number): Placed[] => [
  { x: 50, y, text, ...(size === undefined ? {} : { size }) },
];
const count = (text: string, part: string) => text.split(part).length - 1;

test('a running head stays once, page numbers are left out, and both are counted', async () => {
  const { text, dropped } = await read(
    numbers(4).map((page) => [...at(top, 'The Running Head'), ...at(bottom, `Page ${page} of 4`)]),
  );
  assert.deepEqual([count(text, 'Running Head'), count(text, 'of 4')], [1, 0]);
  assert.equal(count(text, 'holds line'), 20);
  assert.equal(dropped, 3 * 'The Running Head'.length + 4 * 'Page 1 of 4'.length);
});

for (const [name, textOf] of [
  ['numbers of invoices', (page: number) => `Invoice ${1000 + page}`],
  ['numbers that run with the pages beside another word', (page: number) => `Exercise ${page}`],
  ['years', (page: number) => `Results ${2020 + page}`],
  ['numbers of patients', (page: number) => `Patient ID ${88_000 + 37 * page} - Ward 1`],
  ['numbers without a constant offset', (page: number) => `${7 * page + 30}`],
] as const) {
  test(`${name} at the edge of pages stay`, async () => {
    for (const y of [top, bottom]) {
      const { text, dropped } = await read(numbers(6).map((page) => at(y, textOf(page))));
      for (const page of numbers(6))
        assert.equal(count(`${text}\n`.replaceAll('\n', ' \n'), `${textOf(page)} `), 1, textOf(page));
      assert.equal(dropped, 0);
    }
  });
}

test('large type stays on every page, even if it is the same', async () => {
  const { text } = await read(numbers(5).map(() => at(top, 'Results', 24)));
  assert.equal(count(text, 'Results'), 5);
});

test('a note at the foot of every page stays once', async () => {
  const note = 'Note: All figures are for the year ended March 31, 2022';
  const { text } = await read(numbers(6).map(() => at(bottom, note)));
  assert.equal(count(text, note), 1);
});

test('a contract that is named on each page keeps its parties', async () => {
  const head = 'Contract No. 2026-0815 between ACME GmbH and Zephyr Ltd.';
  const { text } = await read(numbers(5).map((page) => [...at(top, head), ...at(bottom, `${page}`)]));
  assert.deepEqual([count(text, head), /^\d$/m.test(text)], [1, false]);
});

test('pages with one numbered line each keep all of them', async () => {
  const { text, dropped } = await read(
    numbers(30).map((page) => at(top, `Salad ${page - 1}`)),
    () => [],
  );
  for (const page of numbers(30)) assert.match(text, new RegExp(`Salad ${page - 1}\\b`));
  assert.equal(dropped, 0);
});

test('a document of page numbers alone has text', async () => {
  const { text } = await read(
    numbers(3).map((page) => at(bottom, `${page}`)),
    () => [],
  );
  assert.equal(text.replace(/\s+/g, ' '), '1 2 3');
});

test('heads of left and right pages, roman numbers and numbers that begin at another page are left out', async () => {
  const edges = numbers(16).map((page) => [
    ...at(top, page % 2 === 0 ? 'The Book' : 'The Chapter'),
    ...at(bottom, page < 6 ? (['i', 'ii', 'iii', 'iv', 'v'][page - 1] ?? '') : `- ${page - 5} -`),
  ]);
  const { text } = await read(edges);
  assert.deepEqual([count(text, 'The Book'), count(text, 'The Chapter')], [1, 1]);
  assert.doesNotMatch(text, /^(?:[ivx]+|- \d+ -)$/m);
});

test('a page number beside the title of the document is left out, and the title stays once', async () => {
  const [first, ...others] = numbers(6).map((page) => at(top, `${page} The Handbook`));
  const { text } = await read([[...(first ?? []), { x: 50, y: 730, text: 'The Handbook', size: 24 }], ...others]);
  assert.deepEqual([count(text, 'The Handbook'), /[2-6] The Handbook/.test(text)], [2, false]);
});

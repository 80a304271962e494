import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../../../../../../../test/support/browser.ts';
import type { Line } from './lines.ts';
import type { Outline, OutlineEntry } from './outline.ts';
import { findOutlineTitles } from './outline-titles.ts';
import { readPdf } from './read-pdf.ts';

/** Headings that look like text, above paragraphs that continue them without a gap. */
const headings: readonly [level: number, text: string][] = [
  [1, 'Storage'],
  [
    2,
    'A section whose title is so long that it needs more than one line of the page, because it names every part of the store',
  ],
  [2, 'A.1 Handling of packages'],
  [3, 'Checks of amounts'],
  [1, 'Transport'],
];
const style = `body { font: 14px "DejaVu Sans"; width: 600px } * { margin: 0; line-height: 1.3 }
h1, h2, h3 { font: inherit } .stamp { font-size: 40px; font-weight: bold }`;
const prose =
  'This paragraph follows its heading and fills more than one line, so that the size of most letters is known. ';
const body = headings
  .map(([level, text]) => `<h${level}>${text}</h${level}><p>${prose.repeat(4)}</p><p class="stamp">DRAFT ${level}</p>`)
  .join('');

test('headings are the titles that Chromium lists in the outline, with their levels, and stamps are none', async (t) => {
  const { page } = await openBrowser(t);
  await page.setContent(`<style>${style}</style>${body}`);
  const { blocks } = await readPdf(await page.pdf({ outline: true, tagged: true }));
  const found = blocks.filter(({ kind }) => kind === 'heading').map(({ level, text }) => [level, text]);
  assert.deepEqual(found, headings);
  assert.ok(blocks.some(({ kind, text }) => kind !== 'heading' && text.includes('DRAFT 3')));
});

const line = (text: string, y: number, more: Partial<Line> = {}): Line => {
  const shape = { left: 50, right: 50 + text.length * 5, y, size: 11, bold: false, mono: false, hyphen: false };
  return { ...shape, ...more, segments: [{ ...shape, text }] };
};
const outlineOf = (...entries: readonly OutlineEntry[]) => ({ entries }) as unknown as Outline; // the part that is read

test('a title that occurs twice on its page is the one at the destination, and a turned stamp is no title', () => {
  const contents = line('2 Storage', 700);
  const stamp = line('Storage', 500, { turned: true });
  const heading = line('2 Storage', 400);
  const pages = [{ page: 3, height: 800, lines: [contents, stamp, heading] }];
  const entry = { title: 'Storage', level: 2, page: 3, y: 412 };
  const titles = findOutlineTitles(pages, outlineOf(entry));
  assert.equal(titles.startingWith(contents), undefined);
  assert.equal(titles.startingWith(stamp), undefined);
  assert.deepEqual(titles.startingWith(heading), { level: 2, lines: [heading] });
  assert.equal(findOutlineTitles(pages, outlineOf({ ...entry, page: 4 })).count, 0, 'another page');
});

test('a bookmark without the number of its heading is found', () => {
  const heading = line('5章 パッケージの取扱い方', 400);
  const entry = { title: 'パッケージの取扱い方', level: 1, page: 1, y: undefined };
  const titles = findOutlineTitles([{ page: 1, height: 800, lines: [heading] }], outlineOf(entry));
  assert.deepEqual(titles.startingWith(heading), { level: 1, lines: [heading] });
});

test('a title with wrong letters is found at the destination', () => {
  const heading = line('2 The stQrage of large documents', 400);
  const pages = [
    { page: 1, height: 800, lines: [line('Text about storage of documents', 420), heading, line('More', 380)] },
  ];
  const entry = { title: 'The storage of large documents', level: 1, page: 1, y: 410 };
  assert.deepEqual(findOutlineTitles(pages, outlineOf(entry)).startingWith(heading)?.lines, [heading]);
  assert.equal(findOutlineTitles(pages, outlineOf({ ...entry, y: 700 })).count, 0);
});

test('20,000 bookmarks to one page of 2,000 lines take no quadratic time', () => {
  const lines = Array.from({ length: 2000 }, (_, at) => line(`Line ${at} of the text`, 800 - at / 3));
  const entries = Array.from({ length: 20_000 }, (_, at) => ({ title: `Nothing ${at}`, level: 1, page: 1, y: 400 }));
  const started = process.cpuUsage();
  assert.equal(findOutlineTitles([{ page: 1, height: 800, lines }], outlineOf(...entries)).count, 0);
  const { user } = process.cpuUsage(started);
  assert.ok(user < 5_000_000, `${user} µs`);
});

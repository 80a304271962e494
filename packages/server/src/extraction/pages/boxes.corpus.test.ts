import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { corpusEntries, corpusFile, corpusFolder, isTuningFile } from '../../../../../test/support/corpus.ts';
import { splitByStructure } from '../chunking/structure-splitter.ts';
import { layOut } from '../document.ts';
import { openPdf } from '../formats/pdf/open-pdf.ts';
import { readDocument } from '../formats/read-document.ts';
import { locateOnPages } from './locate-on-pages.ts';

/*
 * Compares the boxes with those of another reader: `pdftotext -bbox` of poppler names the place of each word. The words in
 * the boxes of a passage must be the words of the passage.
 */

interface PlacedWord {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Returns the words of each page with their middles, in points from the top left corner. */
function readWithPoppler(path: string): PlacedWord[][] {
  const html = execFileSync('/usr/bin/pdftotext', ['-bbox', '-cropbox', path, '-'], {
    cwd: corpusFolder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return html
    .split('<page ')
    .slice(1)
    .map((page) =>
      [...page.matchAll(/<word xMin="([^"]+)" yMin="([^"]+)" xMax="([^"]+)" yMax="([^"]+)">([^<]*)</g)].map(
        ([, left, top, right, bottom, text = '']) => ({
          text: simple(
            text.replace(/&(\w+);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? ''),
          ),
          x: (Number(left) + Number(right)) / 2,
          y: (Number(top) + Number(bottom)) / 2,
        }),
      ),
    );
}

function simple(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Every 7th chunk is enough, and keeps the test short. */
const step = 7;
const files = corpusEntries('pdf', 'ok')
  .filter(isTuningFile)
  .filter(({ path }) => !/rotation|vertical/.test(path));

test('the words in the boxes of passages are those that poppler reads there', async (t) => {
  let wanted = 0;
  let boxed = 0;
  let right = 0;
  for (const { path } of files) {
    const bytes = corpusFile(path);
    const document = await readDocument({ format: 'pdf', bytes }).catch(() => undefined);
    if (document === undefined) continue;
    const { text, blocks, locate } = layOut(document);
    const words = readWithPoppler(path);
    const cuts = [...splitByStructure(text, blocks, 400)].filter((_, at) => at % step === 0).slice(0, 60);
    const pdf = await openPdf(bytes);
    const counts = { wanted: 0, boxed: 0, right: 0 };
    for (const { start, end } of cuts) {
      const { page: first = 1, page_end: last = first } = locate(start, end);
      const passage = text.slice(start, end);
      const pages = locateOnPages(pdf, { passage, first, last, picture: null });
      const inBoxes = pages.flatMap(({ page, boxes }) =>
        (words[page - 1] ?? []).filter(({ x, y }) =>
          boxes.some(([left, top, width, height]) => x >= left && x <= left + width && y >= top && y <= top + height),
        ),
      );
      const letters = simple(passage);
      counts.wanted += letters.length;
      for (const { text: word } of inBoxes) {
        counts.boxed += word.length;
        if (letters.includes(word)) counts.right += word.length;
      }
    }
    pdf.close();
    wanted += counts.wanted;
    boxed += counts.boxed;
    right += counts.right;
    t.diagnostic(`${path}: ${cuts.length} passages, ${JSON.stringify(counts)}`);
  }
  t.diagnostic(`letters of passages ${wanted}, in boxes ${boxed}, of the passage ${right}`);
  assert.ok(files.length > 10 && wanted > 100_000);
  assert.ok(right >= 0.98 * boxed, 'what the boxes hold belongs to the passage');
  assert.ok(right >= 0.95 * wanted && boxed <= 1.02 * wanted, 'the passage is in the boxes');
});

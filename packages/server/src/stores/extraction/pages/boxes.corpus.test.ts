import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusEntries, corpusFile, isTuningFile } from '../../../../../../test/support/corpus.ts';
import { splitByStructure } from '../chunking/structure-splitter.ts';
import { layOut } from '../document.ts';
import { openPdf } from '../formats/pdf/open-pdf.ts';
import { readDocument } from '../formats/read-document.ts';
import type { Box } from '../page-protocol.ts';
import { locateOnPages } from './locate-on-pages.ts';
import { readWithPoppler, simplify } from './testing/poppler-words.fixture.ts';

/*
 * Compares the boxes with those of another reader: `pdftotext -bbox` of poppler names the place of each word. The words in
 * the boxes of a passage must be the words of the passage.
 */

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
    const words = readWithPoppler(path).map((page) => page.words.map(({ text, box }) => ({ text, ...middleOf(box) })));
    const cuts = [...splitByStructure(text, blocks, 400)].filter((_, at) => at % step === 0).slice(0, 60);
    const pdf = await openPdf(bytes);
    const counts = { wanted: 0, boxed: 0, right: 0 };
    for (const { start, end } of cuts) {
      const { page: first = 1, page_end: last = first } = locate(start, end);
      const passage = text.slice(start, end);
      const pages = locateOnPages(pdf, { passage, first, last, scanned: [], picture: null });
      const inBoxes = pages.flatMap(({ page, boxes }) =>
        (words[page - 1] ?? []).filter(({ x, y }) =>
          boxes.some(([left, top, width, height]) => x >= left && x <= left + width && y >= top && y <= top + height),
        ),
      );
      const letters = simplify(passage);
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

function middleOf([left, top, width, height]: Box) {
  return { x: left + width / 2, y: top + height / 2 };
}

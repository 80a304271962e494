import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnPdf } from '../../../../../../../test/support/sample-pdf.ts';
import { readPdf } from './read-pdf.ts';

const row = (y: number, cells: readonly string[]) => cells.map((text, at) => ({ x: 80 + at * 120, y, text }));
const texts = [
  { x: 80, y: 480, text: 'The harbour office keeps a list of moorings and of' },
  { x: 80, y: 466, text: 'their owners, who pay on the first of May.' },
  ...row(400, ['Berth', 'Length', 'Fee']),
  ...row(384, ['A1', '8 m', '240']),
  ...row(368, ['B7', '14 m', '520']),
];
const read = [
  ['paragraph', 'The harbour office keeps a list of moorings and of their owners, who pay on the first of May.'],
  ['table', 'Berth | Length | Fee\nA1 | 8 m | 240\nB7 | 14 m | 520'],
];
/** Turns the page around its middle, by quarters against the clock. */
const directions = ['1 0 0 1 0 0', '0 1 -1 0 700 100', '-1 0 0 -1 600 800', '0 -1 1 0 -100 700'];

async function blocksOf(content: string, more = '') {
  const { blocks, warnings } = await readPdf(drawnPdf(content, more));
  assert.deepEqual(warnings, []);
  return blocks.map(({ kind, text, page }) => ({ read: [kind, text], page }));
}

test('a page whose text is turned is read as the upright page, however viewers turn it', async () => {
  for (const turn of directions) {
    const byText = texts.map(({ x, y, text }) => `q ${turn} cm BT /F1 11 Tf ${x} ${y} Td (${text}) Tj ET Q`).join('\n');
    for (const rotation of [0, 90, 180, 270]) {
      const found = await blocksOf(byText, `/Rotate ${rotation}`);
      assert.deepEqual(
        found,
        read.map((each) => ({ read: each, page: 1 })),
        `${turn}, ${rotation}`,
      );
    }
  }
});

test('a note on a turned page stands beside the text that it is beside', async () => {
  const lines = texts.map(({ x, y, text }) => `q ${directions[1]} cm BT /F1 11 Tf ${x} ${y} Td (${text}) Tj ET Q`);
  // Beside "Fee": x 400 to 430 and y 398 to 410 of the upright page.
  const note = '<< /Type /Annot /Subtype /FreeText /Contents (new) /F 4 /Rect [290 500 302 530] >>';
  const found = await blocksOf(lines.join('\n'), `/Annots [${note}]`);
  assert.match(found.map(({ read: [, text] }) => text).join('\n'), /Berth \| Length \| Fee \| new/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnPdf, writePdf } from '../../../../../../../test/support/sample-pdf.ts';
import { layOut } from '../../document.ts';
import { scannedPdf } from '../testing/scanned-pdf.fixture.ts';
import { readPdf } from './read-pdf.ts';

const show = (text: string, y: number, size = 12) => `BT /F1 ${size} Tf 72 ${y} Td (${text}) Tj ET`;
const box = (y: number) => `60 ${y - 5} 300 20 re f`;
const seen = show('Seen', 700);

async function read(content: string | Buffer) {
  const document = await readPdf(typeof content === 'string' ? drawnPdf(content) : content);
  const text = layOut(document).text.replace(/\s+/g, ' ');
  return { text, hidden: document.facts.dropped?.hidden ?? 0, warnings: document.warnings };
}

test('white, transparent, invisible and tiny text over empty paper is left out and counted', async () => {
  for (const unseen of [
    `1 g ${show('Hidden', 600)} 0 g`,
    `.98 .97 1 rg ${show('Hidden', 600)} 0 g`,
    `3 Tr ${show('Hidden', 600)} 0 Tr`,
    show('Hidden', 600, 1),
    `1 g ${box(600)} ${show('Hidden', 600)} 0 g`,
    `0 G 20 20 560 760 re S 1 g ${show('Hidden', 600)} 0 g`,
  ]) {
    const { text, hidden } = await read(`${seen} ${unseen} ${show('End', 500)}`);
    assert.deepEqual([text, hidden], ['Seen End', 'Hidden'.length], unseen);
  }
});

test('white text on a dark area, and small marks, are read', async () => {
  for (const drawn of [
    `0 .2 .5 rg ${box(600)} 1 g ${show('Shown', 600)} 0 g`,
    `0 G 30 w 60 605 m 300 605 l S 1 g ${show('Shown', 600)} 0 g`,
    show('Shown', 600, 3),
    `.8 g ${show('Shown', 600)} 0 g`,
    `1 g 0 G 2 Tr ${show('Shown', 600)} 0 Tr 0 g`,
  ]) {
    const { text, hidden } = await read(`${seen} ${drawn} ${show('. . .', 500)}`);
    assert.deepEqual([text, hidden], ['Seen Shown . . .', 0], drawn);
  }
});

test('of several white texts on a page, each is tried', async () => {
  const pairs = [600, 500, 400].map(
    (y) => `0 G 30 w 60 ${y + 5} m 300 ${y + 5} l S 1 g ${show('Shown', y)} ${show('Hidden', y - 50)} 0 g`,
  );
  assert.deepEqual((await read(`${seen} ${pairs.join(' ')}`)).text, 'Seen Shown Shown Shown');
});

const picture = (side: number) => ({ width: side, height: side, dpi: 72, gray: new Uint8Array(side * side).fill(128) });

test('the invisible text of a scan is read, and its picture is not missing', async () => {
  const pdf = scannedPdf([
    { picture: picture(400), text: 'first) Tj 3 Tr 0 60 Td (second) Tj 0 60 Td (third) Tj 0 Tr (' },
  ]);
  const { text, hidden, warnings } = await read(pdf);
  assert.match(text, /first.*second.*third|third.*second.*first/);
  assert.deepEqual([hidden, warnings], [0, []]);
});

test('large pictures beside the text of a page are counted with their pages', async () => {
  const pdf = scannedPdf([
    { picture: picture(400), text: 'one' },
    { picture: picture(50), text: 'two' },
  ]);
  const { warnings } = await read(pdf);
  assert.deepEqual(warnings, [
    'pictures_not_read: One picture of the document was not read. Pictures beside the text of a page are not read. Pages 1.',
  ]);
});

test('invisible text in a drawing is read if the drawing or the page holds anything else', async () => {
  const inside = (drawing: string, content = '') => {
    const stream = (text: string, more = '') => `<< /Length ${text.length} ${more}>>\nstream\n${text}\nendstream`;
    const resources = '/Resources << /Font << /F1 4 0 R >> /XObject << /D 6 0 R >> >>';
    return writePdf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R ${resources} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      stream(`${seen} ${content} /D Do`),
      stream(drawing, `/Type /XObject /Subtype /Form /BBox [0 0 600 800] ${resources} `),
    ]);
  };
  const text = `3 Tr ${show('Scanned', 600)}`;
  assert.equal((await read(inside(`.5 g 60 590 300 30 re f ${text}`))).text, 'Seen Scanned');
  assert.equal((await read(inside(text, '.5 g 60 590 300 30 re f'))).text, 'Seen Scanned');
  assert.deepEqual(await read(inside(text)), { text: 'Seen', hidden: 'Scanned'.length, warnings: [] });
  assert.equal((await read(inside(`1 g ${show('Hidden', 600)}`))).text, 'Seen');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnPdf, writePdf } from '../../../../../../../test/support/sample-pdf.ts';
import { layOut } from '../../document.ts';
import { readPdf } from './read-pdf.ts';

const streamOf = (content: string, dictionary = '') =>
  `<< /Length ${content.length} ${dictionary}>>\nstream\n${content}\nendstream`;
const show = (text: string, y: number) => `BT /F1 12 Tf 72 ${y} Td (${text}) Tj ET`;
const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';

/** A page with the layers On (6), Off (7) and the membership of Off (8), and a drawing of Off (9) and one of On (10). */
function layered(content: string, off = '[7 0 R]'): Buffer {
  const drawing = (text: string, layer: number) =>
    streamOf(
      show(text, 100 + layer),
      `/Type /XObject /Subtype /Form /BBox [0 0 600 800] /OC ${layer} 0 R /Resources << /Font << /F1 4 0 R >> >> `,
    );
  return writePdf([
    `<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF ${off} >> >> >>`,
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >>
      /Properties << /On 6 0 R /Off 7 0 R /Member 8 0 R >> /XObject << /D 9 0 R /E 10 0 R >> >> >>`,
    font,
    streamOf(content),
    '<< /Type /OCG /Name (On) >>',
    '<< /Type /OCG /Name (Off) >>',
    '<< /Type /OCMD /OCGs [7 0 R] >>',
    drawing('OffDrawing', 7),
    drawing('OnDrawing', 6),
  ]);
}

const within = (layer: string, text: string, y = 500) => `/OC /${layer} BDC ${show(text, y)} EMC`;

async function textOf(bytes: Uint8Array): Promise<string> {
  return layOut(await readPdf(bytes)).text.replace(/\s+/g, ' ');
}

test('text of a layer that is off is left out and counted, also where text of another layer stands in the same place', async () => {
  const seen = show('Seen', 700);
  assert.equal(await textOf(layered(`${seen} ${within('On', 'English')} ${within('Off', 'Deutsch')}`)), 'Seen English');
  assert.equal(await textOf(layered(`${seen} ${within('Member', 'Member')}`)), 'Seen');
  assert.equal(await textOf(layered(`${seen} /E Do /D Do`)), 'Seen OnDrawing');
  assert.equal(await textOf(layered(`${seen} /Span << >> BDC ${within('Off', 'Inner')} EMC`)), 'Seen');
  assert.equal(await textOf(layered(`${seen} ${within('Off', 'Shown')}`, '[]')), 'Seen Shown');
  const { facts } = await readPdf(layered(`${seen} ${within('Off', 'Hidden')}`));
  assert.equal(facts.dropped?.hidden, 'Hidden'.length);
});

test('text without a colour, such as that of OCR below a picture, is not taken for hidden', async () => {
  assert.equal(await textOf(layered(`0 0 600 800 re f 3 Tr ${within('On', 'Scanned')}`)), 'Scanned');
});

test('text outside of the page is left out, and text that crosses its side stays', async () => {
  const at = (x: number, y: number, text: string) => `BT /F1 12 Tf ${x} ${y} Td (${text}) Tj ET`;
  const content = [
    at(72, 700, 'Seen'),
    at(72, 2000, 'Above'),
    at(72, -90, 'Below'),
    at(-400, 650, 'Left'),
    at(900, 640, 'Right'),
  ];
  assert.equal(await textOf(drawnPdf(content.join(' '))), 'Seen');
  assert.equal(await textOf(drawnPdf(`${at(72, 700, 'Seen')} ${at(-10, 600, 'Crossing')}`)), 'Seen Crossing');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writePdf } from '../../../../../../../test/support/sample-pdf.ts';
import { layOut } from '../../document.ts';
import { pdfOf } from '../testing/documents.fixture.ts';
import { readPdf } from './read-pdf.ts';

const streamOf = (content: string) => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;

async function textOf(bytes: Uint8Array): Promise<string> {
  return layOut(await readPdf(bytes)).text.replace(/\s+/g, ' ');
}

/** A page that shows codes in two vertical lines, in a font that the file does not hold. */
function vertical(font: string, encoding: string, ordering: string, codes: string): Buffer {
  const parts = `/BaseFont /${font} /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >>`;
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    streamOf(`BT /F 20 Tf 500 700 Td <${codes}> Tj -30 0 Td <${codes}> Tj ET`),
    `<< /Type /Font /Subtype /Type0 /BaseFont /${font} /Encoding /${encoding} /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 ${parts} /DW 1000 /FontDescriptor 7 0 R >>`,
    `<< /Type /FontDescriptor /FontName /${font} /Flags 6 /FontBBox [0 -150 1000 850] /ItalicAngle 0 /Ascent 850 /Descent -150
      /CapHeight 700 /StemV 80 >>`,
  ]);
}

const utf16 = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex');

test('vertical lines in fonts that the file does not hold are read in every encoding', async () => {
  const cases = [
    ['Ryumin-Light-V', 'V', 'Japan1', '467c4b5c386c', '日本語'],
    ['Ryumin-Light-Identity-V', 'Identity-V', 'Japan1', '0aa20cfc0b73', '線覇探'],
    ['KozMinPro6N', '90ms-RKSJ-V', 'Japan1', '93fa967b8cea', '日本語'],
    ['KozMinPro6N', 'UniJIS-UTF16-V', 'Japan1', utf16('文章です'), '文章です'],
    ['STSong-Light', 'UniGB-UCS2-V', 'GB1', utf16('第三条'), '第三条'],
    ['MSung-Light', 'UniCNS-UCS2-V', 'CNS1', utf16('繁體中文'), '繁體中文'],
    ['HYSMyeongJo-Medium', 'UniKS-UCS2-V', 'Korea1', utf16('한국어'), '한국어'],
  ] as const;
  for (const [font, encoding, ordering, codes, text] of cases) {
    assert.equal(await textOf(vertical(font, encoding, ordering, codes)), `${text} ${text}`, encoding);
  }
});

/** Places a text as one string, by words, or by letters that are as wide as in Courier. */
function placed(text: string, by: RegExp, { x, y, size }: { x: number; y: number; size: number }) {
  return [...text.matchAll(by)].map((match) => {
    return { x: x + match.index * 0.6 * size, y, size, text: match[0], font: 'Courier' as const };
  });
}

test('a text that is printed twice with an offset is kept once, whatever its pieces, their size and their order', async () => {
  const text = 'Testing 19.5 and 76.2 little bells.';
  for (const by of [/.+/g, /\S+/g, /\S/g]) {
    for (const [size, offset] of [
      [6, 0.3],
      [12, 0.4],
      [12, 0.9],
      [24, 2],
    ] as const) {
      const first = placed(text, by, { x: 50, y: 700, size });
      const second = placed(text, by, { x: 50 + offset, y: 700 - offset, size });
      const [after, between] = [[...first, ...second], first.flatMap((one, at) => [one, second[at] ?? one])];
      const name = `${by} ${size} ${offset}`;
      assert.equal(await textOf(pdfOf([after])), text, name);
      assert.equal(await textOf(pdfOf([between])), text, `${name} between`);
    }
  }
});

test('texts that only stand close to each other are kept', async () => {
  const page = [
    ...placed('iiii....1111', /\S/g, { x: 50, y: 700, size: 4 }),
    ...placed('Row one', /.+/g, { x: 50, y: 600, size: 10 }),
    ...placed('Row one', /.+/g, { x: 50, y: 590, size: 10 }),
    // Another text of the same size in the same place, such as a correction over a number.
    ...placed('500', /.+/g, { x: 50, y: 500, size: 10 }),
    ...placed('817', /.+/g, { x: 50.1, y: 500, size: 10 }),
  ];
  const text = await textOf(pdfOf([page]));
  for (const part of ['iiii....1111', 'Row one Row one', '500', '817'])
    assert.ok(text.includes(part), `${part} in ${text}`);
});

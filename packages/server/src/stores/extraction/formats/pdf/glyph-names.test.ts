import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { writePdf } from '../../../../../../../test/support/sample-pdf.ts';
import { layOut } from '../../document.ts';
import { lettersOf } from './glyph-names.ts';
import { readPdf } from './read-pdf.ts';

/** Builds a page that shows "be", the glyph with the name, and "re". */
function pdfWith(name: string, { isPacked = false } = {}): Buffer {
  const content = 'BT /F1 12 Tf 72 700 Td (be\\001re) Tj ET';
  const encoding = `<< /Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 /${name}] >>`;
  const packed = deflateSync(`6 0 ${encoding}`);
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding 6 0 R >>',
    isPacked ? 'null' : encoding,
    isPacked
      ? Buffer.concat([
          Buffer.from(`<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length ${packed.length} >>\nstream\r\n`),
          packed,
          Buffer.from('\nendstream'),
        ])
      : 'null',
  ]);
}

test('a glyph with a composed name is read as its letters', async () => {
  const cases = { f_i: 'befire', f_f_i: 'beffire', T_h: 'beThre', 'f_i.liga': 'befire', uni00660069: 'befire' };
  for (const [name, expected] of Object.entries(cases)) {
    for (const isPacked of [false, true]) {
      const document = await readPdf(pdfWith(name, { isPacked }));
      assert.deepEqual([layOut(document).text, document.warnings], [expected, []], name);
    }
  }
});

test('the parts of a name are letters or hexadecimal numbers', () => {
  const names = ['t_t', 'f_uni0069', 'f_i.liga', 'u1F600_x', 'g123', 'uni006', 'f__i', 'uD800'];
  assert.deepEqual(names.map(lettersOf), ['tt', 'fi', 'fi', '😀x', undefined, undefined, undefined, undefined]);
});

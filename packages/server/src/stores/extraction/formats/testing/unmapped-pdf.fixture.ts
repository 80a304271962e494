import { writePdf } from '../../../../../../../test/support/sample-pdf.ts';

const firstSign = 0x21;
const stream = (content: string) => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

/**
 * Builds a page that shows lines in Helvetica, whose map says that each letter is a sign: the letters are numbered in the order of
 * their first use, as programs number the glyphs of a subset.
 */
export function unmappedPdf(lines: readonly string[]): Buffer {
  const letters = [...new Set(lines.join(''))];
  const map = letters.map((letter, at) => `<${hex(letter.charCodeAt(0), 2)}> <${hex(firstSign + at, 4)}>`);
  const cmap = [
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def',
    '1 begincodespacerange <00> <ff> endcodespacerange',
    `${map.length} beginbfchar ${map.join('\n')} endbfchar`,
    'endcmap CMapName currentdict /CMap defineresource pop end end',
  ].join('\n');
  const content = lines.map((line, at) => `BT /F 12 Tf 60 ${720 - at * 18} Td (${line}) Tj ET`).join('\n');
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    stream(content),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>',
    stream(cmap),
  ]);
}

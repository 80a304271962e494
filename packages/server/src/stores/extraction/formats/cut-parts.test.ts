import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unzipSync, zipSync } from 'fflate';
import {
  book,
  openDocument,
  presentation,
  wordDocument,
  workbook,
} from '../../../../../../test/support/sample-office.ts';
import { isPartial } from '../extraction.ts';
import { describeCutParts, endsOf } from './cut-parts.ts';
import { readDocument } from './read-document.ts';

const row = '<table:table-row><table:table-cell><text:p>fox</text:p></table:table-cell></table:table-row>';
const files = {
  docx: [wordDocument(['Foxes', 'Hens']), 'word/document.xml', '</w:p><w:p>'],
  xlsx: [workbook([{ name: 'S', rows: [['fox'], ['hen']] }]), 'xl/sheet0.xml', '</row><row>'],
  pptx: [presentation(['Foxes']), 'ppt/slides/slide0.xml', '</p:sp>'],
  odt: [openDocument('odt', '<text:p>Foxes</text:p><text:p>Hens</text:p>'), 'content.xml', '<text:p>Hens'],
  ods: [openDocument('ods', `<table:table table:name="S">${row}${row}</table:table>`), 'content.xml', '</table:table>'],
  epub: [book('Foxes'), 'a.xhtml', '</p>'],
} as const;

for (const [format, [whole, part, end]] of Object.entries(files)) {
  test(`a part that ends too early makes a record of .${format} partial, and its text before the cut is read`, async () => {
    const parts = unzipSync(whole);
    const text = Buffer.from(parts[part] ?? []).toString();
    assert.ok(text.includes(end));
    const read = async (content: string) =>
      await readDocument({ format, bytes: zipSync({ ...parts, [part]: Buffer.from(content) }) });
    const isCut = ({ warnings }: Awaited<ReturnType<typeof read>>) => {
      const report = { format, warnings, milliseconds: 0 };
      return isPartial({ kind: 'extracted', numChunks: 1, rejectedRows: 0, duplicateRows: 0, report });
    };
    const cut = await read(text.slice(0, text.indexOf(end) + 3));
    assert.deepEqual(cut.warnings, [
      `parts_cut: These parts of the file end too early, so text is missing: ${JSON.stringify(part)}.`,
    ]);
    assert.match(cut.blocks.map((block) => block.text).join(' '), /fox/i);
    assert.ok(isCut(cut));
    const root = text.replace(/^<\?[^>]*\?>/, '');
    for (const content of [text, `${text}\n<!-- end -->\n`, `\ufeff${text}`, `<!-- made by <tool> -->${root}`])
      assert.ok(!isCut(await read(content)), content.slice(0, 60));
  });
}

test('the ends of a part tell whether it is cut, and hold no more of it', () => {
  const part = Buffer.from(`<html>${'<p>fox</p>'.repeat(10_000)}</html>`);
  for (const bytes of [part, part.subarray(0, -8), part.subarray(0, 100)]) {
    const ends = endsOf(bytes);
    assert.ok(ends.buffer.byteLength <= 4_000);
    assert.deepEqual(describeCutParts([['a', ends]]), describeCutParts([['a', bytes]]));
  }
});

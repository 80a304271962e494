import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unzipSync, zipSync } from 'fflate';
import { openDocument, workbook } from '../../../../../../test/support/sample-office.ts';
import { layOut } from '../document.ts';
import { readPairs } from '../qa/pairs.ts';
import { readOpenDocument } from './opendocument/read-opendocument.ts';
import { readSheets, readWorkbook } from './read-sheets.ts';

test('each visible sheet is a table below its name, and a warning names what is hidden', async () => {
  const sheets = [
    {
      name: 'Animals',
      rows: [
        ['name', 'legs'],
        ['fox', '4'],
        ['', ''],
        ['two\nlines', ''],
      ],
    },
    { name: 'Old', isHidden: true, rows: [['secret']] },
    { name: 'Empty', rows: [] },
    { name: 'Plants', rows: [['fern']] },
  ];
  const document = await readSheets('xlsx', workbook(sheets));
  const { text, locate } = layOut(document);
  assert.equal(text, 'Animals\n\nname | legs\nfox | 4\ntwo lines\n\nPlants\n\nfern');
  const at = text.indexOf('fern');
  assert.deepEqual(locate(at, at + 4), { sheet: 'Plants', heading_path: ['Plants'], char_start: at, char_end: at + 4 });
  assert.deepEqual(document.warnings, ['hidden_sheets: These sheets are hidden and were not read: "Old".']);
});

/** A sheet whose columns B and D and third row are hidden. */
function withHidden(): Uint8Array {
  const rows = [
    ['Question', 'Margin', 'Answer', 'Note', 'Unit'],
    ['How far?', 'secret', '10 km', 'internal', 'm'],
    ['Where?', '', 'Gone', '', ''],
  ];
  const parts = unzipSync(workbook([{ name: 'S', rows }]));
  const columns =
    '<cols><col min="2" max="2" width="9" hidden="1"/><col min="4" max="4" width="0" customWidth="1"/></cols>';
  const sheet = Buffer.from(parts['xl/sheet0.xml'] ?? []).toString();
  const changed = sheet
    .replace('<sheetData>', `${columns}<sheetData>`)
    .replace(/<row>(?=(?:(?!<row>).)*$)/s, '<row ht="0" customHeight="1">');
  return zipSync({ ...parts, 'xl/sheet0.xml': Buffer.from(changed) });
}

test('hidden columns and rows without height are left out, and warnings name them', async () => {
  const { blocks, warnings } = await readSheets('xlsx', withHidden());
  assert.equal(blocks[1]?.text, 'Question | Answer | Unit\nHow far? | 10 km | m');
  assert.deepEqual(warnings, [
    'hidden_columns: These columns of the sheet "S" are hidden and were not read: B, D.',
    'hidden_rows: 1 rows of the sheet "S" are hidden and were not read.',
  ]);
  const column = (isHidden: boolean, count: number) =>
    `<table:table-column table:number-columns-repeated="${count}" ${isHidden ? 'table:visibility="collapse"' : ''}/>`;
  const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
  const ods = await readOpenDocument(
    'ods',
    openDocument(
      'ods',
      `<table:table table:name="S">${column(false, 1)}${column(true, 2)}${column(false, 9)}<table:table-row>${['a', 'b', 'c', 'd'].map(cell).join('')}</table:table-row></table:table>`,
    ),
  );
  assert.equal(ods.blocks[1]?.text, 'a | d');
  assert.match(ods.warnings.join(), /^hidden_columns: .*: B, C\.$/);
});

test('pairs have no hidden columns unless the request includes them', async () => {
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const book = await readWorkbook({ format: 'xlsx', bytes: withHidden() }, warn);
  const read = (columns: { include_hidden: boolean } | null) =>
    [...readPairs(book, { onDuplicate: 'keep', warn, onSheet: () => {}, columns })].flatMap((each) =>
      'pair' in each ? [each.pair] : [],
    );
  const [pair, ...others] = read(null);
  assert.deepEqual([pair?.metadata, pair?.cells, others], [{ Unit: 'm' }, ['A2', 'C2'], []]);
  assert.match(warnings.join('\n'), /hidden_columns: .*: B, D\. Send "include_hidden"/);
  assert.deepEqual(read({ include_hidden: true })[0]?.metadata, { Margin: 'secret', Note: 'internal', Unit: 'm' });
});

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

/** The cells of a row: a text, the style of the cell, and more of its XML. */
type StyledCell = readonly [text: string, style: number];

/** A workbook with white and ordinary fonts, with and without a fill, and with the format `;;;`. */
function withLooks(rows: readonly (readonly StyledCell[])[], after = ''): Uint8Array {
  const parts = unzipSync(workbook([{ name: 'S', rows: [] }]));
  const xml = rows.map(
    (cells) =>
      `<row>${cells.map(([text, s]) => (text.startsWith('<') ? `<c s="${s}" t="inlineStr"><is>${text}</is></c>` : `<c s="${s}"><v>${text}</v></c>`)).join('')}</row>`,
  );
  const font = (color: string) => `<font><color ${color}/></font>`;
  const fill = (color: string) => `<fill><patternFill patternType="solid"><fgColor ${color}/></patternFill></fill>`;
  const xf = (font: number, fill: number, format = 0) => `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}"/>`;
  const styles = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode=";;;"/><numFmt numFmtId="171" formatCode="0;-0;;@"/></numFmts>
    <fonts>${font('theme="1"')}${font('rgb="FFFFFFFF"')}${font('theme="0"')}${font('theme="0" tint="-0.5"')}</fonts>
    <fills><fill><patternFill/></fill>${fill('rgb="FF203864"')}${fill('theme="0"')}<fill><gradientFill/></fill></fills>
    <cellXfs>${xf(0, 0)}${xf(1, 0)}${xf(2, 2)}${xf(1, 1)}${xf(1, 3)}${xf(3, 0)}${xf(0, 0, 170)}${xf(0, 0, 171)}</cellXfs></styleSheet>`;
  const relation = (kind: string, target: string) =>
    `<Relationship Id="${kind}" Type="http://x/${kind}" Target="${target}"/>`;
  const links = Buffer.from(parts['xl/_rels/workbook.xml.rels'] ?? []).toString();
  return zipSync({
    ...parts,
    'xl/sheet0.xml': Buffer.from(`<worksheet><sheetData>${xml.join('')}</sheetData>${after}</worksheet>`),
    'xl/styles.xml': Buffer.from(styles),
    'xl/tables/t.xml': Buffer.from('<table id="1" ref="A1:B9"/>'),
    'xl/_rels/sheet0.xml.rels': Buffer.from(
      `<Relationships>${relation(after === 'table' ? 'table' : 'none', 'tables/t.xml')}</Relationships>`,
    ),
    'xl/_rels/workbook.xml.rels': Buffer.from(
      links.replace('</Relationships>', `${relation('styles', 'styles.xml')}</Relationships>`),
    ),
  });
}

test('white cells and cells with an empty format are not read unless people see them, and a warning names the first', async () => {
  const read = async (cells: readonly StyledCell[], after = '') => {
    const { blocks, warnings } = await readSheets('xlsx', withLooks([[['1', 0], ...cells]], after));
    return [blocks[1]?.text, warnings];
  };
  const hidden = [
    'hidden_cells: Cells of the sheet "S" that are white on white, or whose format shows nothing, were not read. The first is B1.',
  ];
  const run = (color: string, text: string) => `<r><rPr><color ${color}/></rPr><t>${text}</t></r>`;
  const colored = run('rgb="FFFF0000"', 'red') + run('rgb="FFFFFFFF"', 'white');
  for (const style of [1, 2, 6]) assert.deepEqual(await read([['2', style]]), ['1 | ', hidden], `style ${style}`);
  assert.deepEqual(await read([[colored, 1]]), ['1 | red', hidden]);
  for (const style of [3, 4, 5]) assert.deepEqual(await read([['2', style]]), ['1 | 2', []], `style ${style}`);
  assert.deepEqual(await read([[colored, 3]]), ['1 | redwhite', []]);
  assert.deepEqual(await read([['0', 7]]), ['1', []]);
  for (const after of ['table', '<conditionalFormatting sqref="D1 A1:B2"/>', '<picture r:id="p"/>'])
    assert.deepEqual(await read([['2', 1]], after), ['1 | 2', []], after);
});

test('pairs hold no text of white cells unless the request includes what is hidden', async () => {
  const header: StyledCell[] = [
    ['<t>Question</t>', 0],
    ['<t>Answer</t>', 0],
    ['<t>Note</t>', 0],
  ];
  const bytes = withLooks([
    header,
    [
      ['<t>How wide?</t>', 0],
      ['<t>5 m</t>', 0],
      ['<t>secret</t>', 1],
    ],
  ]);
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const book = await readWorkbook({ format: 'xlsx', bytes }, warn);
  const read = (columns: { include_hidden: boolean } | null) =>
    [...readPairs(book, { onDuplicate: 'keep', warn, onSheet: () => {}, columns })].flatMap((each) =>
      'pair' in each ? [each.pair.metadata] : [],
    );
  assert.deepEqual(read(null), [{}]);
  assert.match(warnings.join(), /^hidden_cells: .* The first is C2\. Send "include_hidden"/);
  assert.deepEqual(read({ include_hidden: true }), [{ Note: 'secret' }]);
});

test('white cells of an OpenDocument sheet and those with an empty format are not read', async () => {
  const style = (name: string, text: string, cell = '', more = '') =>
    `<style:style style:name="${name}" style:family="table-cell" ${more}><style:text-properties ${text}/><style:table-cell-properties ${cell}/></style:style>`;
  const white = 'fo:color="#ffffff"';
  const automatic =
    style('w', white) +
    style('dark', white, 'fo:background-color="#000000"') +
    style('empty', '', '', 'style:data-style-name="N1"') +
    '<number:text-style style:name="N1"><style:map style:condition="value()&gt;0" style:apply-style-name="N2"/></number:text-style><number:number-style style:name="N2"/>';
  const cell = (name: string, text: string) =>
    `<table:table-cell table:style-name="${name}" office:value="7"><text:p>${text}</text:p></table:table-cell>`;
  const rows = `<table:table-row>${cell('', 'a')}${cell('w', 'b')}${cell('dark', 'c')}${cell('empty', '')}${cell('', 'd')}</table:table-row>`;
  const columns = '<table:table-column table:number-columns-repeated="9"/>';
  const read = async (more: string) =>
    await readOpenDocument(
      'ods',
      openDocument('ods', `<table:table table:name="S">${columns}${rows}${more}</table:table>`, { automatic }),
    );
  const { blocks, warnings } = await read('');
  assert.equal(blocks[1]?.text, 'a |  | c |  | d');
  assert.match(warnings.join(), /^hidden_cells: .* The first is B1\.$/);
  assert.equal((await read('<calcext:conditional-formats/>')).blocks[1]?.text, 'a | b | c |  | d');
});

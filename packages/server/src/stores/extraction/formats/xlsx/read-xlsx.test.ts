import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { workbook } from '../../../../../../../test/support/sample-office.ts';
import { readPairs } from '../../qa/pairs.ts';
import { readSheets } from '../read-sheets.ts';
import { createFormat } from './number-format.ts';
import { readXlsx } from './read-xlsx.ts';

interface WorkbookParts {
  readonly strings?: string;
  readonly styles?: string;
  readonly workbook?: string;
  readonly prefix?: string;
}

/** Builds a workbook with one sheet. `sheet` is the content of `sheetData` and the text after it. */
function workbookOf(
  sheet: string,
  { strings = '', styles = '', workbook = '', prefix = '' }: WorkbookParts = {},
): Uint8Array {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${type}/${kind}" Target="${target}"/>`;
  const parts = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships>${relation('a', 'officeDocument', '/xl/book.xml')}</Relationships>`,
    'xl/book.xml': `<workbook xmlns:r="r">${workbook}<sheets><sheet name="One &amp; only" r:id="b"/></sheets></workbook>`,
    'xl/_rels/book.xml.rels': `<Relationships>${relation('b', 'worksheet', 'worksheets/first.xml')}${relation('c', 'sharedStrings', 'strings.xml')}${relation('d', 'styles', 'styles.xml')}</Relationships>`,
    'xl/strings.xml': `<sst>${strings}</sst>`,
    'xl/styles.xml': `<styleSheet>${styles}</styleSheet>`,
    'xl/worksheets/first.xml': `<${prefix}worksheet>${sheet}</${prefix}worksheet>`,
  };
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));
}

async function read(bytes: Uint8Array) {
  const [sheet] = (await readXlsx(bytes)).sheets;
  return [...(sheet?.rows ?? [])];
}

const cellsOf = async (bytes: Uint8Array) => (await read(bytes)).map(({ cells }) => cells);

test('shared strings are read with all their runs and blanks, without phonetic guides', async () => {
  const strings =
    '<si><r><t>rich </t></r><r><rPr><vertAlign val="baseline"/><strike val="0"/></rPr><t xml:space="preserve"> text &amp; more</t></r><rPh><t>kana</t></rPh></si><si><t>line_x000A_end</t></si>';
  const sheet =
    '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>9</v></c></row></sheetData>';
  assert.deepEqual(await cellsOf(workbookOf(sheet, { strings })), [['rich  text & more', 'line\nend']]);
});

test('text boxes and titles of charts of visible sheets are read behind the cells, and comments are counted', async () => {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const relationsTo = (targets: Readonly<Record<string, string>>) =>
    `<Relationships>${Object.entries(targets).map(([kind, target]) => `<Relationship Id="${kind}" Type="${type}/${kind}" Target="${target}"/>`)}</Relationships>`;
  const names =
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"';
  const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const box = (text: string) =>
    `<xdr:wsDr ${names}><xdr:sp><xdr:txBody>${paragraph(text)}${paragraph('twice')}</xdr:txBody></xdr:sp></xdr:wsDr>`;
  const parts = {
    ...unzipSync(
      workbook([
        {
          name: 'Seen',
          rows: [
            ['question', 'answer'],
            ['q', 'a'],
          ],
        },
        { name: 'Unseen', isHidden: true, rows: [['secret']] },
      ]),
    ),
    ...Object.fromEntries(
      Object.entries({
        'xl/_rels/sheet0.xml.rels': relationsTo({ drawing: 'drawings/one.xml', comments: 'comments1.xml' }),
        'xl/_rels/sheet1.xml.rels': relationsTo({ drawing: 'drawings/two.xml' }),
        'xl/drawings/one.xml': box('Look'),
        'xl/drawings/two.xml': box('Never'),
        'xl/drawings/_rels/one.xml.rels': relationsTo({ chart: '../charts/chart1.xml' }),
        'xl/charts/chart1.xml': `<c:chartSpace ${names}><c:chart><c:title>${paragraph('Sales')}</c:title></c:chart></c:chartSpace>`,
        'xl/comments1.xml': '<comments><comment><text><t>why</t></text></comment></comments>',
      }).map(([name, text]) => [name, strToU8(text)]),
    ),
  };
  const bytes = zipSync(parts);
  const document = await readSheets('xlsx', bytes);
  assert.deepEqual(
    document.blocks.map(({ text }) => text),
    ['Seen', 'question | answer\nq | a', 'Look\ntwice', 'Sales'],
  );
  assert.deepEqual(document.facts.dropped, { comments: 3 });
});

test('raised and struck runs of a string have their marks', async () => {
  const run = (text: string, properties = '') => `<r><rPr>${properties}</rPr><t xml:space="preserve">${text}</t></r>`;
  const raised = '<vertAlign val="superscript"/>';
  const rich = `${run('10')}${run('6', raised)}${run(' m')}${run('2', raised)}${run(' of ')}${run('100', '<strike/>')}${run(' 90')}`;
  const sheet = `<sheetData><row><c t="s"><v>0</v></c><c t="inlineStr"><is>${rich}</is></c><c t="inlineStr"><is><t>6</t></is></c></row></sheetData>`;
  const shown = '10^6 m² of ~~100~~ 90';
  assert.deepEqual(await cellsOf(workbookOf(sheet, { strings: `<si>${rich}</si>` })), [[shown, shown, '6']]);
});

test('a cell whose font strikes it out has the marks, with its format', async () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="0&quot; kg&quot;"/></numFmts><fonts><font/><font><strike/></font><font><strike val="0"/></font></fonts><cellStyleXfs><xf fontId="1"/></cellStyleXfs><cellXfs><xf fontId="0"/><xf fontId="1"/><xf fontId="1" numFmtId="164"/><xf fontId="2"/></cellXfs><dxfs><dxf><font><strike/></font></dxf></dxfs>';
  const text = (style: number) => `<c s="${style}" t="inlineStr"><is><t>old</t></is></c>`;
  const sheet = `<sheetData><row>${text(0)}${text(1)}<c s="2"><v>5</v></c>${text(3)}<c s="1"/></row></sheetData>`;
  assert.deepEqual(await cellsOf(workbookOf(sheet, { styles })), [['old', '~~old~~', '~~5 kg~~', 'old']]);
});

test('inline strings, booleans, formulas, errors and ISO dates are read; a formula gives its value', async () => {
  const sheet = `<sheetData><row><c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c><c t="b"><v>1</v></c><c t="str"><f>A1&amp;"x"</f><v>text</v></c><c><f>1+1</f><v>2</v></c><c t="d"><v>2024-05-01T00:00:00</v></c><c t="e"><v>#N/A</v></c></row></sheetData>`;
  const [row] = await read(workbookOf(sheet));
  assert.deepEqual(row?.cells, ['inline', 'TRUE', 'text', '2', '2024-05-01', '#N/A']);
  assert.deepEqual(row?.errors, [5]);
});

test('a document and a sheet of pairs show texts and booleans as the sections for texts of their formats do', async () => {
  const codes = ['@&quot; kg&quot;', '&quot;ID-&quot;@', '0;0;0;&quot;T:&quot;@', ';;;', '0.00'];
  const styles = `<numFmts>${codes.map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code}"/>`).join('')}</numFmts><cellXfs><xf numFmtId="0"/>${codes.map((_, at) => `<xf numFmtId="${164 + at}"/>`).join('')}</cellXfs>`;
  const header = ['question', 'answer', ...codes.map((_, at) => `meta.${at}`)];
  const headerCells = header.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('');
  const row = `<c s="1" t="inlineStr"><is><t>five</t></is></c><c s="2" t="s"><v>0</v></c><c s="3" t="str"><v>made</v></c><c s="4" t="s"><v>0</v></c><c s="5" t="s"><v>0</v></c><c s="2" t="b"><v>1</v></c><c s="4" t="e"><v>#N/A</v></c>`;
  const bytes = workbookOf(`<sheetData><row>${headerCells}</row><row>${row}</row></sheetData>`, {
    strings: '<si><t>A7</t></si>',
    styles,
  });
  const shown = ['five kg', 'ID-A7', 'T:made', '', 'A7', 'ID-TRUE', '#N/A'];
  const document = await readSheets('xlsx', bytes);
  assert.equal(document.blocks[1]?.text.split('\n')[1], shown.join(' | '));
  const options = { onDuplicate: 'keep', warn: () => {}, onSheet: () => {} } as const;
  const [pair] = [...readPairs(await readXlsx(bytes), options)].flatMap((item) => ('pair' in item ? [item.pair] : []));
  assert.deepEqual([pair?.question, pair?.answer], shown.slice(0, 2));
  assert.deepEqual(pair?.metadata, { 0: 'T:made', 2: 'A7', 3: 'ID-TRUE', 4: '#N/A' });
});

test('names may have a prefix, and cells and rows may lack their position', async () => {
  const sheet =
    '<x:sheetData><x:row><x:c><x:v>1</x:v></x:c></x:row><x:row r="4"><x:c r="C4"><x:v>2</x:v></x:c></x:row></x:sheetData>';
  const rows = await read(workbookOf(sheet, { prefix: 'x:' }));
  assert.deepEqual(
    rows.map(({ row, cells }) => [row, cells]),
    [
      [1, ['1']],
      [4, ['', '', '2']],
    ],
  );
});

for (const [code, value, shown] of [
  ['General', 0.1 + 0.2, '0.3'],
  ['General', 1234567890123451, '1234567890123451'],
  ['0.00', 12.5, '12.50'],
  ['0.00', 1.005, '1.01'],
  ['0%', 0.125, '13%'],
  ['0.0%', 0.125, '12.5%'],
  ['#,##0.00', 1234567.891, '1,234,567.89'],
  ['#,##0;(#,##0)', -1234, '(1,234)'],
  ['[$€-407]#,##0.00', 5, '€5.00'],
  ['"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', -5, '($5.00)'],
  ['0.##', 1.5, '1.5'],
  ['0.##', 2, '2.'],
  ['0.0,,"M"', 5_000_000, '5.0M'],
  ['#,##0.0,', 1_234_567, '1,234.6'],
  ['[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', 500, '500'],
  ['[<1]0.00%;0', 5, '5'],
  ['[=1]"yes";[=0]"no";0', 0, 'no'],
  ['General" kg"', 5, '5 kg'],
  ['[<0]-0;0', -3, '-3'],
  ['[<0]-0;0', 1, '1'],
  ['(000) 000-0000', 5_551_234_567, '(555) 123-4567'],
  ['000-00-0000', 123_456_789, '123-45-6789'],
  [';;;', 5, ''],
  ['[h]:mm:ss', -0.51, '-12:14:24'],
  ['[h]:mm;-[h]:mm;"none"', -0.51, '-12:14'],
  ['[h]:mm;-[h]:mm;"none"', 0, 'none'],
  ['[mm]:ss', 0.5, '720:00'],
  ['yyyy-mm-dd;;"never"', 0, 'never'],
  ['[>59]yyyy-mm-dd;0', 45413, '2024-05-01'],
  ['[>59]yyyy-mm-dd;0', 7, '7'],
  ['General;General;"nil"', -1234567890123456, '1234567890123456'],
  ['General;General;"nil"', 0, 'nil'],
  ['yyyy-mm-dd hh:mm:ss.000', 45413.5, '2024-05-01T12:00:00'],
  ['[$-404]e"年"m"月"d"日"', 45413, '2024-05-01'],
  ['0 km/h', 5, '5'],
  ['0"', 5.5, '5.5'],
  ['0.00E+00', 12345, '1.23E+04'],
  ['00000', 42, '00042'],
  ['0" pcs"', 3, '3 pcs'],
  ['0;-0;"none"', 0, 'none'],
  ['@', 7, '7'],
  ['@', 1234567890123, '1234567890123'],
  ['yyyy-mm-dd', 45413, '2024-05-01'],
  ['d/m/yy h:mm', 45413.5, '2024-05-01T12:00:00'],
  ['h:mm AM/PM', 0.75, '18:00:00'],
  ['[h]:mm:ss', 1.5, '36:00:00'],
  ['mmm yy', 45413, '2024-05-01'],
  ['[$-409]d\\-mmm;@', 45413, '2024-05-01'],
  ['#,##0,"k"', 12000, '12k'],
] as const) {
  test(`a cell of format ${code} displays ${value} as ${shown}`, () => {
    assert.equal(createFormat(code, { epoch: 1900 })(value), shown);
  });
}

test('days are counted from 1900 with its wrong leap year, or from 1904 when the workbook declares it', async () => {
  const shown = (epoch: 1900 | 1904, value: number) => createFormat('yyyy-mm-dd', { epoch })(value);
  assert.deepEqual([shown(1900, 1), shown(1900, 59), shown(1900, 61)], ['1900-01-01', '1900-02-28', '1900-03-01']);
  assert.equal(shown(1904, 0), '1904-01-01');
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>';
  const sheet = '<sheetData><row r="1"><c r="A1" s="1"><v>0</v></c><c r="B1" s="0"><v>0</v></c></row></sheetData>';
  assert.deepEqual(await cellsOf(workbookOf(sheet, { styles, workbook: '<workbookPr date1904="1"/>' })), [
    ['1904-01-01', '0'],
  ]);
});

test('a merged cell repeats its value in the rows below it that have other values', async () => {
  const cell = (place: string, text: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const rows = [[cell('A1', 'q1'), cell('B1', 'a')], [cell('A2', 'q2')], ['<c r="B3"/>'], [cell('A4', 'q4')]];
  const data = rows.map((cells, index) => `<row r="${index + 1}">${cells.join('')}</row>`).join('');
  const sheet = `<sheetData>${data}</sheetData><mergeCells count="1"><mergeCell ref="B1:C3"/></mergeCells>`;
  assert.deepEqual(await cellsOf(workbookOf(sheet)), [['q1', 'a'], ['q2', 'a'], [], ['q4']]);
});

test('hidden rows and sheets are read and marked', async () => {
  const [row] = await read(workbookOf('<sheetData><row r="1" hidden="1"><c><v>1</v></c></row></sheetData>'));
  assert.equal(row?.hidden, true);
  const two = [
    { name: 'a', isHidden: true, rows: [] },
    { name: 'b', rows: [] },
  ];
  const hidden = (await readXlsx(workbook(two))).sheets.map((sheet) => sheet.hidden);
  assert.deepEqual(hidden, [true, false]);
});

test('cells at the far edge of the sheet need no memory, and are reported', async () => {
  const rows = Array.from({ length: 5000 }, (_, row) => `<row r="${row + 1}"><c r="XFD${row + 1}"><v>1</v></c></row>`);
  const merge = '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>';
  const read5000 = await read(workbookOf(`<sheetData>${rows.join('')}</sheetData>${merge}`));
  assert.deepEqual([read5000.length, read5000[9]?.cells.length, read5000[9]?.isCut], [5000, 0, true]);
});

test('a package without a workbook or without sheets is damaged', async () => {
  await assert.rejects(readXlsx(zipSync({ '[Content_Types].xml': strToU8('<Types/>') })), { code: 'file_damaged' });
});

import { strToU8, zipSync } from 'fflate';
import { wordDocument } from '../../test/support/sample-office.ts';
import { textPdf, writePdf } from '../../test/support/sample-pdf.ts';
import { type Amplifier, asciiRuns, coreAmplifiers } from './amplifiers.ts';
import { payloadBytes } from './hold-case.ts';

/** A document of at most 1 MiB for one of the readers. */
export interface HostileFile {
  readonly name: string;
  readonly extension: 'txt' | 'md' | 'html' | 'docx' | 'pdf' | 'csv' | 'xlsx';
  /** Default: that of the extension in the interface. */
  readonly purpose?: string;
  /** The text splitter of its record. Default: chunks of 200 tokens. */
  readonly splitter?: object;
  bytes(): Buffer;
}

const fileBytes = payloadBytes - 4_096;

/** Returns each run as a text, a page, a table, a paragraph and a cell. */
export function runsInFiles(amplifiers: readonly Amplifier[]): HostileFile[] {
  return amplifiers.flatMap((each) => [
    text('txt', each.name, () => each.text(fileBytes)),
    text('md', each.name, () => each.text(fileBytes)),
    text('html', each.name, () => `<p>${each.text(fileBytes)}`),
    text(
      'csv',
      each.name,
      () => `question,answer\na,"${each.text(fileBytes).replaceAll('"', '""').slice(0, fileBytes)}"\n`,
    ),
    text('csv', `${each.name}, not quoted`, () => `question,answer\n${each.text(fileBytes)}\n`),
    // A compressed run of 4 MiB is a file of a few KiB.
    { name: `paragraph of ${each.name}`, extension: 'docx', bytes: () => wordDocument([printable(each, 1024 * 1024)]) },
    {
      name: `cell of ${each.name}`,
      extension: 'xlsx',
      bytes: () => sheet(`<row><c t="inlineStr"><is><t>${escapeXml(printable(each, 500_000))}</t></is></c></row>`),
    },
    {
      name: `page of ${each.name}`,
      extension: 'pdf',
      bytes: () => textPdf([[printable(each, 100_000).replace(/[^\x20-\x7e]/g, '?')]]),
    },
  ]);
}

export const allRuns: readonly Amplifier[] = [...coreAmplifiers, ...asciiRuns];

function text(extension: 'txt' | 'md' | 'html' | 'csv', name: string, content: () => string): HostileFile {
  return { name, extension, bytes: () => Buffer.from(content().slice(0, fileBytes)).subarray(0, fileBytes) };
}

/** Removes the characters that XML cannot contain. */
function printable(amplifier: Amplifier, bytes: number): string {
  return amplifier
    .text(bytes)
    .toWellFormed()
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, '?');
}

const repeat = (unit: string, bytes = fileBytes) => unit.repeat(Math.floor(bytes / unit.length));
const escapeXml = (value: string) => value.replace(/[<&]/g, (sign) => (sign === '<' ? '&lt;' : '&amp;'));
const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const sheetMain = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml';
const wordMain = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';

function officePackage(main: string, type: string, parts: Readonly<Record<string, string>>): Buffer {
  const all = {
    '[Content_Types].xml': `<Types><Override PartName="/${main}" ContentType="${type}"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${packageRelations}"><Relationship Id="r1" Type="${relations}/officeDocument" Target="${main}"/></Relationships>`,
    ...parts,
  };
  return zip(all);
}

function zip(parts: Readonly<Record<string, string>>): Buffer {
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(parts).map(([name, each]) => [name, strToU8(each)]))));
}

function docx(body: string): Buffer {
  return officePackage('word/document.xml', wordMain, {
    'word/document.xml': `<w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`,
  });
}

function sheet(rows: string, more: Readonly<Record<string, string>> = {}, after = ''): Buffer {
  return officePackage('xl/workbook.xml', sheetMain, {
    'xl/workbook.xml': `<workbook xmlns:r="${relations}"><sheets><sheet name="a" sheetId="1" r:id="s0"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packageRelations}"><Relationship Id="s0" Type="${relations}/worksheet" Target="sheet0.xml"/></Relationships>`,
    'xl/sheet0.xml': `<worksheet><sheetData>${rows}</sheetData>${after}</worksheet>`,
    ...more,
  });
}

/** Builds packages whose list of content types, or whose directory, needs more work than that of a document. */
function contentTypes(unit: string, bytes: number): Buffer {
  return zip({ '[Content_Types].xml': `<Types>${repeat(unit, bytes)}</Types>` });
}

function manyEntries(count: number): Buffer {
  const entries = Object.fromEntries(Array.from({ length: count }, (_, index) => [index.toString(36), '']));
  return zip(entries);
}

/** Builds a directory with entries that the file does not contain. */
function emptyDirectory(bytes: number): Buffer {
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  const directory = Buffer.concat(Array(Math.floor(bytes / 46)).fill(entry));
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(0xffff, 8);
  end.writeUInt16LE(0xffff, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(4, 16);
  return Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), directory, end]);
}

const office = (name: string, bytes: () => Buffer): HostileFile[] =>
  (['docx', 'xlsx'] as const).map((extension) => ({ name, extension, bytes }));
const word2 = (name: string, body: () => string): HostileFile => ({
  name,
  extension: 'docx',
  bytes: () => docx(body()),
});
const cells = (
  name: string,
  rows: () => string,
  more?: () => Readonly<Record<string, string>>,
  after?: () => string,
): HostileFile => ({
  name,
  extension: 'xlsx',
  bytes: () => sheet(rows(), more?.(), after?.()),
});
const pdf = (name: string, bytes: () => Buffer): HostileFile => ({ name, extension: 'pdf', bytes });

/** Content types and directories, which the service checks before it accepts a file. */
export const checkedFiles: readonly HostileFile[] = [
  ...office('content types: 4 MiB of main parts', () => contentTypes('application/vnd.ms-a.main+xml', 4_190_000)),
  ...office('content types: 1 MiB of main parts', () => contentTypes('application/vnd.ms-a.main+xml', 1_040_000)),
  ...office('content types: main parts without an end', () => contentTypes('application/vnd.ms-aaaa', 1_040_000)),
  ...office('content types: one main part without an end', () =>
    zip({ '[Content_Types].xml': `application/vnd.ms-${repeat('a', 1_040_000)}` }),
  ),
  ...office('content types: 16 MiB of blanks', () => contentTypes(' ', 16_000_000)),
  ...office('8,000 entries', () => manyEntries(8_000)),
  ...office('a directory of empty entries', () => emptyDirectory(fileBytes)),
  ...office('end records', () => Buffer.from(`PK\x03\x04${repeat('PK\x05\x06')}`, 'latin1')),
];

const row = (count: number, cell: (index: number) => string) =>
  `<row>${Array.from({ length: count }, (_, index) => cell(index)).join('')}</row>`;

/** Structures of each format: deep, wide, or with many small parts. */
export const structuredFiles: readonly HostileFile[] = [
  word2('30,000 tabs', () => `<w:p><w:r>${'<w:tab/>'.repeat(30_000)}<w:t>a</w:t></w:r></w:p>`),
  word2('100,000 tabs', () => `<w:p><w:r>${'<w:tab/>'.repeat(100_000)}<w:t>a</w:t></w:r></w:p>`),
  word2('many paragraphs', () => '<w:p><w:r><w:t>a</w:t></w:r></w:p>'.repeat(50_000)),
  word2('many runs', () => `<w:p>${'<w:r><w:t>a </w:t></w:r>'.repeat(100_000)}</w:p>`),
  word2('deep tables', () => `${'<w:tbl><w:tr><w:tc>'.repeat(2_000)}<w:p/>${'</w:tc></w:tr></w:tbl>'.repeat(2_000)}`),
  word2(
    'a table of many columns',
    () => `<w:tbl><w:tr>${'<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>'.repeat(30_000)}</w:tr></w:tbl>`,
  ),
  word2('deep unknown elements', () => `${'<w:x>'.repeat(100_000)}${'</w:x>'.repeat(100_000)}`),
  word2('many attributes', () => `<w:p ${Array.from({ length: 50_000 }, (_, index) => `w:a${index}="1"`).join(' ')}/>`),
  word2('many headings', () =>
    '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>'.repeat(20_000),
  ),
  cells('16,384 columns', () => row(16_384, () => '<c t="n"><v>1</v></c>')),
  cells(
    '60,000 rows of pairs',
    () =>
      row(2, (index) => `<c t="inlineStr"><is><t>${['question', 'answer'][index]}</t></is></c>`) +
      row(2, () => '<c t="n"><v>1</v></c>').repeat(60_000),
  ),
  cells(
    'columns of one name',
    () => row(5_000, () => '<c t="inlineStr"><is><t>question</t></is></c>') + row(5_000, () => '<c t="n"><v>1</v></c>'),
  ),
  cells(
    'merged cells',
    () => row(2, () => '<c t="n"><v>1</v></c>').repeat(100),
    undefined,
    () =>
      `<mergeCells>${Array.from({ length: 30_000 }, (_, index) => `<mergeCell ref="A${index + 1}:ZZ${index + 900}"/>`).join('')}</mergeCells>`,
  ),
  cells('distant cells', () => `<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`),
  cells('a reference of letters', () => `<row><c r="${'A'.repeat(500_000)}1"><v>1</v></c></row>`),
  text('html', 'deep elements', () => repeat('<div>')),
  text('html', 'deep lists', () => repeat('<ul><li>')),
  text('html', 'deep tables', () => repeat('<table><tr><td>')),
  text('html', 'tables in tables', () => repeat('<table>a')),
  text('html', 'a table of wide cells', () => `<table>${repeat('<tr><td colspan=1000 rowspan=1000>a')}`),
  text('html', 'many columns', () => `<table><tr>${repeat('<td>a')}`),
  text('html', 'attributes', () => `<p ${repeat('a=b ')}>`),
  text('html', 'unclosed formats', () => repeat('<a><b><i>')),
  text('html', 'open comment', () => `<!--${repeat('-')}`),
  text('html', 'open scripts', () => repeat('<script>')),
  text('html', 'open styles', () => `<style>${repeat('</styl')}`),
  text('html', 'entities', () => repeat('&lt;&NotEqualTilde;&#x10ffff;')),
  text('md', 'open brackets', () => repeat('[')),
  text('md', 'links in links', () => repeat('[a](')),
  text('md', 'stars', () => repeat('*a **b ')),
  text('md', 'underscores', () => repeat('_a__')),
  text('md', 'open backticks', () => Array.from({ length: 1_200 }, (_, index) => '`'.repeat(index)).join(' ')),
  text('md', 'deep quotes', () => repeat('>')),
  text('md', 'quotes, each deeper', () =>
    Array.from({ length: 1_200 }, (_, index) => `${'>'.repeat(index)} a`).join('\n'),
  ),
  text('md', 'deep lists', () => Array.from({ length: 1_300 }, (_, index) => `${' '.repeat(index)}* a`).join('\n')),
  text('md', 'many references', () => repeat('[a]: b\n')),
  text('md', 'many columns', () => `${repeat('|a', 400_000)}\n${repeat('|-', 400_000)}\n`),
  text('md', 'many rows', () => `|a|b|\n|-|-|\n${repeat('|a|b|\n')}`),
  text('md', 'headings', () => repeat('# a\n')),
  text('md', 'open fences', () => repeat('```\n')),
  text('md', 'autolinks', () => repeat('<http://a')),
  text('md', 'e-mail addresses', () => repeat('a@a.')),
  text('csv', 'many columns', () => `question,answer,${repeat('a,', 400_000)}\n${repeat('1,', 400_000)}\n`),
  text('csv', 'many rows', () => `question,answer\n${repeat('a,b\n')}`),
  text('csv', 'many rows that are refused', () => `question,answer\n${repeat(',\n')}`),
  text('csv', 'rows of the same question', () => `question,answer\n${repeat('a,a\n')}`),
  text('csv', 'open quotes', () => `question,answer\n${repeat('"')}`),
  text('csv', 'quotes in the middle', () => `question,answer\n${repeat('a"b"c,')}`),
  text('csv', 'open quotes on each line', () => `question,answer\n${repeat('"a\n')}`),
  text('csv', 'columns of prototypes', () => `question,answer,${repeat('__proto__,constructor,', 200_000)}\n1,2\n`),
  text('txt', 'lines', () => repeat('a\n')),
  text('txt', 'invalid UTF-8', () => repeat('\u00e9\u00ff')),
  {
    name: 'bytes of no encoding',
    extension: 'txt',
    bytes: () => Buffer.alloc(fileBytes, Buffer.from([0xe2, 0x28, 0xa1, 0x20])),
  },
  {
    name: 'UTF-16 without an end',
    extension: 'txt',
    bytes: () => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.alloc(fileBytes, Buffer.from([0x00, 0xd8]))]),
  },
  pdf('deep arrays', () =>
    writePdf(['<< /Type /Catalog /Pages 2 0 R >>', `<< /Type /Pages /Count 1 /Kids ${repeat('[')} >>`]),
  ),
  pdf('deep page tree', () =>
    writePdf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      ...Array.from({ length: 8_000 }, (_, index) => `<< /Type /Pages /Count 1 /Kids [${index + 3} 0 R] >>`),
    ]),
  ),
  pdf('a page tree that leads to itself', () =>
    writePdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 999999 /Kids [2 0 R 2 0 R] >>']),
  ),
  pdf('many pages', () => textPdf(Array.from({ length: 2_000 }, () => ['a']))),
  pdf('a page of many lines', () => textPdf([Array.from({ length: 15_000 }, () => 'a b')])),
  pdf('many small objects', () =>
    writePdf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 0 /Kids [] >>',
      ...Array.from({ length: 15_000 }, () => 'null'),
    ]),
  ),
  pdf('open strings', () => writePdf(['<< /Type /Catalog /Pages 2 0 R >>', `(${repeat('\\(')}`])),
  pdf('no objects', () => Buffer.from(`%PDF-1.7\n${repeat('1 0 obj\n')}`)),
];

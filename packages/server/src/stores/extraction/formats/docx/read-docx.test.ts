import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { docxOf, paragraph } from '../testing/documents.fixture.ts';
import { readDocx } from './read-docx.ts';

const run = (content: string) => `<w:r>${content}</w:r>`;
const text = (content: string) => run(`<w:t>${content}</w:t>`);

async function textOf(body: string, parts: Readonly<Record<string, string>> = {}): Promise<string> {
  return layOut(await readDocx(docxOf(body, parts))).text;
}

test('blanks in the middle of a paragraph are read in linear time', async () => {
  const blanks = '\t'.repeat(400_000);
  const body = `<w:p><w:r><w:t xml:space="preserve">a${blanks}b${blanks}</w:t></w:r></w:p>`;
  assert.equal(await textOf(body), `a${blanks}b`);
});

test('the level of a heading comes from its own outline, its style, or the style that is based on', async () => {
  const styles = `<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>
    <w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style>
    <w:style w:type="paragraph" w:styleId="Circle"><w:name w:val="c"/><w:basedOn w:val="Circle"/></w:style>`;
  const body = [
    paragraph('Own', '<w:outlineLvl w:val="2"/>'),
    paragraph('Named', '<w:pStyle w:val="H2"/>'),
    paragraph('Based', '<w:pStyle w:val="Mine"/>'),
    paragraph('None', '<w:pStyle w:val="Circle"/>'),
  ];
  assert.deepEqual(
    (await readDocx(docxOf(body.join(''), { styles }))).blocks.map(({ kind, level }) => [kind, level]),
    [
      ['heading', 3],
      ['heading', 2],
      ['heading', 2],
      ['paragraph', undefined],
    ],
  );
});

test('list items have the labels that a word processor shows', async () => {
  const level = (at: number, format: string, label: string) =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${label}"/></w:lvl>`;
  const numbering = `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}${level(1, 'lowerLetter', '%1.%2)')}</w:abstractNum>
    <w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '•')}</w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
    <w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>`;
  const item = (name: string, list: number, at: number) =>
    paragraph(name, `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr>`);
  const body = [item('a', 1, 0), item('b', 1, 1), item('c', 1, 1), item('d', 2, 0), item('e', 1, 0), item('f', 1, 1)];
  const restarted = item('g', 3, 0); // another list of the same definition
  assert.equal(await textOf(body.join('') + restarted, { numbering }), '1. a\n1.a) b\n1.b) c\n- d\n2. e\n2.a) f\n5. g');
});

test('tracked changes count as accepted, and what was deleted is counted', async () => {
  const body = `<w:p>${text('kept')}<w:ins>${text(' new')}</w:ins><w:del>${run('<w:delText> old</w:delText>')}</w:del></w:p>
    <w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>${text('first')}</w:p><w:p>${text(' half')}</w:p>`;
  const document = await readDocx(docxOf(body));
  assert.equal(layOut(document).text, 'kept new\n\nfirst half');
  assert.equal(document.facts.dropped?.deleted, 4);
});

test('words on both sides of a deleted paragraph mark stay two words', async () => {
  const deletedMark = '<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>';
  const joined = (first: string, second: string) =>
    textOf(`<w:p>${deletedMark}${text(first)}</w:p><w:p>${text(second)}</w:p>`);
  assert.equal(await joined('A split', 'paragraph.'), 'A split paragraph.');
  assert.equal(await joined('A split', ', and more'), 'A split, and more');
  assert.equal(await joined('图书可以', '借四个星期。'), '图书可以借四个星期。');
  assert.equal(await joined('', 'Alone'), 'Alone');
});

test('a numbered heading has its number', async () => {
  const level = (at: number, label: string) =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="${label}"/></w:lvl>`;
  const numbering = `<w:abstractNum w:abstractNumId="0">${level(0, '%1')}${level(1, '%1.%2')}</w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`;
  const styles = [1, 2].map(
    (at) => `<w:style w:type="paragraph" w:styleId="H${at}"><w:name w:val="heading ${at}"/>
      <w:pPr><w:numPr><w:ilvl w:val="${at - 1}"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>`,
  );
  const heading = (name: string, at: number) => paragraph(name, `<w:pStyle w:val="H${at}"/>`);
  const body = [heading('First', 1), heading('Part', 2), heading('', 1), heading('Third', 1), heading('Part', 2)];
  assert.equal(
    await textOf(body.join(''), { numbering, styles: styles.join('') }),
    '1 First\n\n1.1 Part\n\n3 Third\n\n3.1 Part',
  );
});

test('the description of a picture is part of the text, once', async () => {
  const drawing = (properties: string) =>
    `<w:drawing xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:inline><wp:docPr id="1" name="Picture 1" ${properties}/></wp:inline></w:drawing>`;
  const shape = (content: string) =>
    `<w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:shape alt="A lamp">${content}</v:shape></w:pict>`;
  const both = `<mc:AlternateContent><mc:Choice>${drawing('descr="A lamp"')}</mc:Choice><mc:Fallback>${shape('')}</mc:Fallback></mc:AlternateContent>`;
  const body = `<w:p>${text('Before')}${run(both)}${text('after')}</w:p><w:p>${run(drawing('title="The map"'))}</w:p>
    <w:p>${run(drawing('descr="scan.png"'))}</w:p>`;
  assert.equal(await textOf(body), 'Before [A lamp] after\n\n[The map]');
});

test('instructions of fields are not text, and their results are', async () => {
  const turn = (type: string) => run(`<w:fldChar w:fldCharType="${type}"/>`);
  const nested = `${turn('begin')}${run('<w:instrText>REF</w:instrText>')}${turn('separate')}${text('inner')}${turn('end')}`;
  const body = `<w:p>${turn('begin')}${nested}${turn('separate')}${text('shown')}${turn('end')}</w:p><w:p>${turn('begin')}</w:p>`;
  assert.equal(await textOf(`${body}${paragraph('after')}`), 'shown\n\nafter');
});

test('notes follow the paragraph that has their mark; comments, headers and footers are omitted and counted', async () => {
  const document = await readDocx(
    docxOf(`<w:p>${text('Claim')}${run('<w:footnoteReference w:id="7"/>')}</w:p>${paragraph('Next.')}`, {
      footnotes: `<w:footnote w:id="7">${paragraph('Proof.')}</w:footnote>`,
      comments: `<w:comment w:id="1">${paragraph('psst')}</w:comment>`,
      header: paragraph('Running head'),
    }),
  );
  assert.equal(layOut(document).text, 'Claim[1]\n\n[1] Proof.\n\nNext.');
  assert.deepEqual(document.facts.dropped, { deleted: 0, hidden: 0, comments: 4, headers_and_footers: 12 });
});

test('the reader returns each header and footer once, with a warning, when the body of a document has no text', async () => {
  const header = paragraph('Running head');
  const document = await readDocx(docxOf(`<w:p>${run('<w:br w:type="page"/>')}</w:p>`, { header: header + header }));
  assert.equal(layOut(document).text.trim(), 'Running head');
  assert.equal(document.facts.dropped?.headers_and_footers, 0);
  assert.deepEqual(document.warnings, ['The body has no text, so the headers and footers were read.']);
});

test('a text box is read once, although the file contains it twice', async () => {
  const box = `<w:txbxContent>${paragraph('In the box')}</w:txbxContent>`;
  const body = `<w:p>${run(`<mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent>`)}${text('Beside')}</w:p>`;
  assert.equal(await textOf(body), 'Beside\n\nIn the box');
});

test('equations become LaTeX, and checkboxes become text', async () => {
  const math = (content: string) => `<m:r><m:t>${content}</m:t></m:r>`;
  const fraction = `<m:f><m:num>${math('π')}</m:num><m:den>${math('2')}</m:den></m:f>`;
  assert.equal(await textOf(`<w:p><m:oMath>${math('x=')}${fraction}</m:oMath></w:p>`), '$x=\\frac{ \\pi }{2}$');
  const box = (isTicked: string) =>
    `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="${isTicked}"/></w14:checkbox></w:sdtPr></w:sdt>`;
  assert.equal(await textOf(`<w:p>${box('1')}${text(' Juice ')}${box('0')}${text(' Tea')}</w:p>`), '[x] Juice [ ] Tea');
});

test('tables keep their rows, nested tables stay in their cell, and a table of one cell is read as a frame', async () => {
  const cell = (content: string) => `<w:tc>${content}</w:tc>`;
  const table = (rows: readonly (readonly string[])[]) =>
    `<w:tbl>${rows.map((cells) => `<w:tr>${cells.map(cell).join('')}</w:tr>`).join('')}</w:tbl>`;
  const inner = table([[paragraph('x'), paragraph('y')]]);
  const body = table([
    [paragraph('A'), paragraph('B')],
    [paragraph('1') + paragraph('one'), inner],
  ]);
  assert.deepEqual((await readDocx(docxOf(body))).blocks, [
    { kind: 'table', text: 'A | B\n1 one | x | y', headerRows: 1 },
  ]);
  assert.equal(await textOf(table([[paragraph('framed') + paragraph('text')]])), 'framed\n\ntext');
});

test('lists of equal length beside each other are read row by row, other cells one after another', async () => {
  const item = (name: string) => paragraph(name, '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>');
  const row = (...cells: string[]) => `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join('')}</w:tr>`;
  const rowsOf = async (...rows: string[]) => (await textOf(`<w:tbl>${rows.join('')}</w:tbl>`)).split('\n');
  const head = row(paragraph('Part'), paragraph('Price'));
  const bolts = item('bolt') + item('nut');
  assert.deepEqual(await rowsOf(head, row(bolts, item('1.20') + item('0.30'))), [
    'Part | Price',
    '- bolt | - 1.20',
    '- nut | - 0.30',
  ]);
  assert.deepEqual(await rowsOf(head, row(bolts, item('1.50'))), ['Part | Price', '- bolt - nut | - 1.50']);
  assert.deepEqual(await rowsOf(head, row(bolts, paragraph('one') + paragraph('each'))), [
    'Part | Price',
    '- bolt - nut | one each',
  ]);
});

test('a heading without text stays a heading and adds nothing to the text', async () => {
  const body = paragraph('', '<w:outlineLvl w:val="1"/>') + paragraph('Text');
  assert.deepEqual((await readDocx(docxOf(body))).blocks[0], { kind: 'heading', text: '', level: 2 });
  assert.equal(await textOf(body), 'Text');
});

test('the numbers of a chart are read as displayed', async () => {
  const values = (...shown: string[]) =>
    shown.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('');
  const series = (name: string, ...numbers: string[]) =>
    `<c:ser><c:tx>${values(name)}</c:tx><c:cat>${values('North', 'South')}</c:cat><c:val>${values(...numbers)}</c:val></c:ser>`;
  const chart = `${series('Loans', '2.5', '4.4000000000000004')}${series('Returns', '2', '3')}`;
  const body = `${paragraph('Before')}<w:p>${run('<c:chart r:id="chart"/>')}</w:p>`;
  assert.equal(await textOf(body, { chart }), 'Before\n\n | Loans | Returns\nNorth | 2.5 | 2\nSouth | 4.4 | 3');
});

test('strict documents are read like transitional ones', async () => {
  const strict = docxOf(paragraph('Strict'), {}, 'http://purl.oclc.org/ooxml/wordprocessingml/main');
  assert.equal(layOut(await readDocx(strict)).text, 'Strict');
});

test('an embedded document is reported and not read, and unlimited nesting is refused', async () => {
  const { warnings } = await readDocx(docxOf(`${paragraph('Text')}<w:altChunk r:id="x"/>`));
  assert.deepEqual(warnings, ['Another document that is embedded in this one was not read.']);
  const deep = `${'<w:smartTag>'.repeat(10_000)}x`;
  await assert.rejects(readDocx(docxOf(`<w:p>${deep}</w:p>`)), { code: 'file_damaged' });
});

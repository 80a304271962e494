import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDocument } from '../../../../../../../test/support/sample-office.ts';
import { layOut } from '../../document.ts';
import { ExtractionError } from '../../extraction-error.ts';
import { readOpenDocument } from './read-opendocument.ts';

const read = (...parts: Parameters<typeof openDocument>) => readOpenDocument(parts[0], openDocument(...parts));
const textOf = async (...parts: Parameters<typeof openDocument>) => layOut(await read(...parts)).text;

async function refused(bytes: Buffer, format: 'odt' | 'ods' | 'odp'): Promise<[string, string]> {
  try {
    await readOpenDocument(format, bytes);
  } catch (error) {
    if (error instanceof ExtractionError) return [error.code, error.message];
    throw error;
  }
  throw new Error('it was read');
}

test('headings have the number of the outline, and the title is a heading', async () => {
  const styles =
    '<office:styles><text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style></office:styles>';
  const automatic = '<style:style style:name="P1" style:parent-style-name="Title"/>';
  const body =
    '<text:p text:style-name="P1">Manual</text:p><text:h text:outline-level="1">Start</text:h>' +
    '<text:h text:outline-level="2">First</text:h><text:h text:outline-level="2">Second</text:h><text:p>Text</text:p>';
  const { blocks, facts } = await read('odt', body, { automatic, styles, meta: '<dc:title>The manual</dc:title>' });
  assert.equal(facts.title, 'The manual');
  assert.deepEqual(
    blocks.map(({ kind, level, text }) => `${kind} ${level ?? ''} ${text}`),
    ['heading 1 Manual', 'heading 1 1 Start', 'heading 2 1.1 First', 'heading 2 1.2 Second', 'paragraph  Text'],
  );
});

test('text that a style hides is counted, and marks come from the style that a style derives from', async () => {
  const text = (name: string, parent: string, properties: string) =>
    `<style:style style:name="${name}" style:parent-style-name="${parent}"><style:text-properties ${properties}/></style:style>`;
  const automatic =
    text('Old', 'Struck', 'fo:color="#ff0000"') +
    text('Struck', 'Old', 'style:text-line-through-style="solid"') +
    text('Gone', '', 'text:display="none"') +
    text('Low', '', 'style:text-position="-33% 58%"');
  const span = (style: string, content: string) => `<text:span text:style-name="${style}">${content}</text:span>`;
  const body =
    `<text:p>A${span('Gone', 'secret')} ${span('Old', '5 €')} H${span('Low', '2')}O</text:p>` +
    '<text:p text:style-name="Gone">whole</text:p>';
  const { blocks, facts } = await read('odt', body, { automatic });
  assert.deepEqual(
    blocks.map((block) => block.text),
    ['A ~~5 €~~ H2O'],
  );
  assert.equal(facts.dropped?.hidden, 11);
});

const textStyle = (name: string, properties: string, more = '') =>
  `<style:style style:name="${name}" style:family="text"><style:text-properties ${properties}/>${more}</style:style>`;
const white = 'fo:color="#ffffff"';

test('white text on paper and text smaller than two points are left out of a text and counted', async () => {
  const filled = (name: string, family: string, kind: string) =>
    `<style:style style:name="${name}" style:family="${family}"><style:${kind}-properties fo:background-color="#203864"/></style:style>`;
  const automatic =
    textStyle('W', white) +
    textStyle('Tiny', 'fo:font-size="1pt"') +
    textStyle('B', 'fo:color="#000000"') +
    textStyle('Lit', 'fo:background-color="#ff0000"') +
    `<style:style style:name="PW" style:family="paragraph"><style:text-properties ${white}/></style:style>` +
    filled('C', 'table-cell', 'table-cell') +
    filled('S', 'section', 'section') +
    filled('PB', 'paragraph', 'paragraph');
  const span = (style: string, content: string) => `<text:span text:style-name="${style}">${content}</text:span>`;
  const row = (style: string) =>
    `<table:table><table:table-row><table:table-cell table:style-name="${style}"><text:p>${span('W', 'in')}</text:p></table:table-cell><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>`;
  for (const [body, expected, hidden] of [
    [`<text:p>a${span('W', ' secret')} ${span('Tiny', 'small')}b</text:p>`, 'a b', 'secret'.length + 'small'.length],
    [`<text:p text:style-name="PW">gone${span('B', 'seen')}</text:p>`, 'seen', 4],
    [`<text:p>${span('Lit', span('W', 'seen'))}</text:p>`, 'seen', 0],
    [`<text:p text:style-name="PB">${span('W', 'seen')}</text:p>`, 'seen', 0],
    [`<text:section text:style-name="S"><text:p>${span('W', 'seen')}</text:p></text:section>`, 'seen', 0],
    [row('C'), 'in | x', 0],
    [row(''), ' | x', 2],
    [
      `<text:p>a<draw:frame><draw:text-box><text:p>${span('W', 'box')}</text:p></draw:text-box></draw:frame></text:p>`,
      'a\n\nbox',
      0,
    ],
  ] as const) {
    const document = await read('odt', body, { automatic });
    assert.deepEqual([layOut(document).text, document.facts.dropped?.hidden], [expected, hidden], body);
  }
  const page = '<style:page-layout><style:page-layout-properties fo:background-color="#000000"/></style:page-layout>';
  const dark = { automatic, styles: `<office:automatic-styles>${page}</office:automatic-styles>` };
  assert.equal(await textOf('odt', `<text:p>${span('W', 'seen')}</text:p>`, dark), 'seen');
});

test('conditions hide a paragraph, a section or a text as the document shows them, and readings follow their word', async () => {
  const hidden = (name: string, isHidden: boolean, content = '') =>
    `<text:${name} text:condition="ooow:x" text:is-hidden="${isHidden}">${content}</text:${name}>`;
  const section = (display: string, content: string) =>
    `<text:section text:display="condition" text:is-hidden="${display}"><text:p>${content}</text:p></text:section>`;
  const body =
    `<text:p>Gone${hidden('hidden-paragraph', true)}</text:p><text:p>Kept${hidden('hidden-paragraph', false)}${hidden('hidden-text', false, ' seen')}${hidden('hidden-text', true, ' unseen')}</text:p>` +
    `${section('true', 'closed')}${section('false', 'open')}` +
    '<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby></text:p>';
  const { blocks, facts } = await read('odt', body);
  assert.deepEqual(
    blocks.map((block) => block.text),
    ['Kept seen', 'open', '漢字(かんじ)'],
  );
  assert.equal(facts.dropped?.hidden, 'Gone'.length + 'unseen'.length + 'closed'.length);
});

test('lists have the labels that the document shows', async () => {
  const automatic =
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>' +
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/><text:list-level-style-bullet text:level="3"/></text:list-style>' +
    '<text:list-style style:name="L2"><text:list-level-style-number text:level="1" style:num-format="I" style:num-suffix="." text:start-value="4"/></text:list-style>';
  const item = (text: string, inner = '') => `<text:list-item><text:p>${text}</text:p>${inner}</text:list-item>`;
  const inner = `<text:list>${item('a', `<text:list>${item('deep')}</text:list>`)}${item('b')}</text:list>`;
  const body =
    `<text:list text:style-name="L1">${item('one', inner)}<text:list-item text:start-value="7"><text:p>seven</text:p><text:p>more</text:p></text:list-item></text:list>` +
    `<text:list text:style-name="L2">${item('four')}</text:list><text:list text:style-name="L1" text:continue-numbering="true">${item('eight')}</text:list>` +
    `<text:list text:style-name="L1">${item('again')}</text:list>`;
  assert.deepEqual((await textOf('odt', body, { automatic })).split(/\n+/), [
    ...['1. one', 'a) a', '- deep', 'b) b', '7. seven', 'more', 'IV. four', '8. eight', '1. again'],
  ]);
});

test('notes and boxes follow their paragraph, and what is not shown is counted', async () => {
  const body =
    '<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes>' +
    '<text:p>A<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d  e\n f<text:note><text:note-citation>9</text:note-citation><text:note-body><text:p>Note</text:p></text:note-body></text:note>' +
    '<office:annotation><dc:creator>x</dc:creator><text:p>why</text:p></office:annotation><draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame>' +
    '<draw:frame><draw:image/><svg:desc>A fox sleeps in the sun</svg:desc></draw:frame><text:page-number>3</text:page-number></text:p>' +
    '<text:section text:display="none"><text:p>secret</text:p></text:section>';
  const styles =
    '<office:master-styles><style:master-page><style:header><text:p>Head</text:p></style:header></style:master-page></office:master-styles>';
  const { blocks, facts } = await read('odt', body, { styles });
  assert.deepEqual(
    blocks.map(({ text }) => text),
    ['A b c\nd e f[1]', '[1] Note', 'Boxed', '[A fox sleeps in the sun]'],
  );
  assert.deepEqual(facts.dropped, { deleted: 4, hidden: 6, comments: 4, headers_and_footers: 4 });
  const { blocks: header, warnings } = await read('odt', '<text:p/>', { styles });
  assert.deepEqual([header.map(({ text }) => text), warnings.length], [['Head'], 1]);
});

test('tables keep their header rows, and formulas and charts are read from their objects', async () => {
  const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
  const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`;
  const table = `<table:table><table:table-header-rows>${row(cell('Part'), cell('Weeks'))}</table:table-header-rows>${row(cell('Pump'), cell('4'))}${row(cell('All'), '<table:covered-table-cell/>')}</table:table>`;
  const frame = (object: string) => `<draw:frame><draw:object xlink:href="./${object}/"/></draw:frame>`;
  const body = `${table}<text:p>So ${frame('Math')} holds.</text:p><text:p>${frame('Chart')}</text:p>`;
  const document = await read('odt', body, {
    'Math/content.xml':
      '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>',
    'Chart/content.xml': `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:chart><chart:chart><chart:title><text:p>Sales</text:p></chart:title>${`<table:table>${row(cell('Year'), cell('Sum'))}${row(cell('2025'), cell('7'))}</table:table>`}</chart:chart></office:chart></office:body></office:document-content>`,
  });
  assert.deepEqual(
    document.blocks.map(({ text }) => text),
    ['Part | Weeks\nPump | 4\nAll |', 'So E = mc^2 holds.', 'Sales', 'Year | Sum\n2025 | 7'].map((text) =>
      text.replace('All |', 'All | '),
    ),
  );
  assert.equal(document.blocks[0]?.headerRows, 1);
});

test('prefixes of names are free', async () => {
  const renamed =
    '<o:document-content xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:t="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><o:body><o:text><t:p>Hello<t:s/>fox</t:p></o:text></o:body></o:document-content>';
  assert.equal(await textOf('odt', '', { 'content.xml': renamed }), 'Hello fox');
});

test('sheets are tables below their names, and hidden sheets and rows are named', async () => {
  const automatic = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>';
  const cell = (text: string, more = '') => `<table:table-cell ${more}><text:p>${text}</text:p></table:table-cell>`;
  const body =
    `<table:table table:name="Prices"><table:table-row>${cell('name')}<table:table-cell table:number-columns-repeated="2"/>${cell('price')}<table:table-cell table:number-columns-repeated="16380"/></table:table-row>` +
    `<table:table-row table:number-rows-repeated="2">${cell('nut', 'table:number-columns-repeated="2"')}<table:table-cell/><table:table-cell office:value="0.12"/></table:table-row>` +
    `<table:table-row table:visibility="filter">${cell('gone')}</table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>` +
    `<table:table table:name="Secret" table:style-name="h"><table:table-row>${cell('x')}</table:table-row></table:table>`;
  const { blocks, warnings } = await read('ods', body, { automatic });
  assert.deepEqual(
    blocks.map(({ text, sheet }) => [sheet, text]),
    [
      ['Prices', 'Prices'],
      ['Prices', 'name |  |  | price\nnut | nut |  | 0.12\nnut | nut |  | 0.12'],
    ],
  );
  assert.deepEqual(
    warnings.map((warning) => warning.split(':')[0]),
    ['hidden_rows', 'hidden_sheets'],
  );
});

test('repeated cells with text are bounded before they are written', async () => {
  const row =
    '<table:table-row table:number-rows-repeated="999999"><table:table-cell table:number-columns-repeated="900"><text:p>x</text:p></table:table-cell></table:table-row>';
  const [code] = await refused(openDocument('ods', `<table:table>${row}</table:table>`), 'ods');
  assert.equal(code, 'unpacked_limit');
  const wide =
    '<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"><text:p>x</text:p></table:table-cell></table:table-row>';
  const { blocks, warnings } = await read('ods', `<table:table table:name="W">${wide}</table:table>`);
  assert.deepEqual([blocks[1]?.text, warnings[0]?.split(':')[0]], ['a', 'columns_cut']);
});

test('slides are read in order with their titles and notes', async () => {
  const automatic =
    '<style:style style:name="dp1"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>';
  const box = (text: string, kind = '') =>
    `<draw:frame presentation:class="${kind}"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
  const body =
    `<draw:page>${box('Below')}${box('Foxes', 'title')}${box('7', 'page-number')}<draw:g><draw:custom-shape><text:p>Shape</text:p></draw:custom-shape></draw:g>` +
    `<presentation:notes><draw:page-thumbnail presentation:class="page"/>${box('Say hello', 'notes')}</presentation:notes></draw:page>` +
    `<draw:page draw:style-name="dp1">${box('Second')}</draw:page>`;
  const { blocks, facts, warnings } = await read('odp', body, { automatic });
  assert.deepEqual(
    blocks.map(({ page, text }) => `${page} ${text}`),
    ['1 Foxes', '1 Below', '1 Shape', '1 Notes', '1 Say hello', '2 Slide 2', '2 Second'],
  );
  assert.deepEqual([facts.pages, facts.dropped?.headers_and_footers], [2, 1]);
  assert.deepEqual(warnings, ['hidden_slides: These slides are hidden in the show: 2.']);
});

test('files that are encrypted, of another kind or declare entities are refused by name', async () => {
  const encrypted = openDocument('odt', '', {
    'META-INF/manifest.xml':
      '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>',
  });
  assert.equal((await refused(encrypted, 'odt'))[0], 'file_encrypted');
  assert.equal((await refused(openDocument('ods', ''), 'odt'))[0], 'file_type_mismatch');
  const entity = openDocument('odt', '', { 'content.xml': '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>' });
  assert.deepEqual(await refused(entity, 'odt'), [
    'file_damaged',
    'The file is not a readable OpenDocument document: "content.xml" declares an entity.',
  ]);
  const deep = `${'<text:section>'.repeat(600)}${'</text:section>'.repeat(600)}`;
  assert.equal((await refused(openDocument('odt', deep), 'odt'))[0], 'file_damaged');
});

test('tables in tables are read to a depth, and a warning says that the rest is missing', async () => {
  const nested = (depth: number): string =>
    depth === 0
      ? '<text:p>inside</text:p>'
      : `<table:table><table:table-row><table:table-cell>${nested(depth - 1)}</table:table-cell></table:table-row></table:table>`;
  assert.equal(await textOf('odt', nested(10)), 'inside');
  const { warnings } = await read('odt', `${nested(40)}<text:p>after</text:p>`);
  assert.equal(warnings.length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { encryptedOfficeFile, wordDocument } from '../../../../../../test/support/sample-office.ts';
import { encryptedPdf } from '../../../../../../test/support/sample-pdf.ts';
import { layOut } from '../document.ts';
import { readDocx } from './docx/read-docx.ts';
import { readHtml } from './html/read-html.ts';
import { readPdf } from './pdf/read-pdf.ts';
import { readDocument } from './read-document.ts';
import { readMarkdown } from './read-markdown.ts';
import { pdfOf } from './testing/documents.fixture.ts';

test('HTML becomes headings, items, tables and code as blocks, without hidden content', () => {
  const html = `<head><title>T</title><style>p{}</style></head><body><nav>menu</nav><h1>One</h1>
    <p>First<br>line  two &amp; <b>bo</b>ld</p><p hidden>no</p><div style="display: none"><p>no</p></div>
    <script>no</script><ol start="3"><li>three<ul><li>inner</ul><li>four</ol><h2>Two</h2>
    <table><caption>Cap</caption><tr><th>A<th>B<tr><td>1<td><p>2</p><p>3</p><tr><td></td><td></td></table><pre>
 x = 1
   y</pre>tail`;
  assert.deepEqual(readHtml(Buffer.from(html)).blocks, [
    { kind: 'heading', text: 'One', level: 1 },
    { kind: 'paragraph', text: 'First\nline two & bold' },
    { kind: 'list_item', text: '3. three' },
    { kind: 'list_item', text: '- inner' },
    { kind: 'list_item', text: '4. four' },
    { kind: 'heading', text: 'Two', level: 2 },
    { kind: 'table', text: 'Cap\nA | B\n1 | 2 3', headerRows: 2 },
    { kind: 'code', text: ' x = 1\n   y' },
    { kind: 'paragraph', text: 'tail' },
  ]);
});

test('the text of nested tables, stray cells and unclosed tags is read', () => {
  const text = (html: string) => layOut(readHtml(Buffer.from(html))).text;
  assert.equal(text('<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>f'), 'a b | c d | e\n\nf');
  assert.equal(text('x<td>y</td></table></tr>z'), 'x\n\ny\n\nz');
  assert.equal(text('<div><p>a<div><table><tr><td>b'), 'a\n\nb');
  assert.equal(text(`${'<div>'.repeat(4_000)}deep`), 'deep');
});

test('the charset of a page comes from its header, then from its own declaration', () => {
  const page = Buffer.concat([Buffer.from('<meta charset="windows-1251"><p>'), Buffer.from([0xe4, 0xee])]);
  assert.equal(readHtml(page).blocks[0]?.text, 'до');
  assert.equal(readHtml(page, 'windows-1253').facts.encoding, 'windows-1253');
});

test('Markdown becomes its structure; front matter is a fact, not text', () => {
  const markdown =
    '---\ntitle: T\n---\n# One *two*\n\nText &amp; [link](http://x.test) `a<b>`\n\n- a\n- b\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n```js\nx < 1\n```\n';
  const document = readMarkdown(Buffer.from(markdown));
  assert.equal(document.facts.encoding, 'utf-8');
  assert.equal(document.facts.front_matter, 'title: T');
  assert.deepEqual(document.blocks, [
    { kind: 'heading', text: 'One two', level: 1 },
    { kind: 'paragraph', text: 'Text & link a<b>' },
    { kind: 'list_item', text: '- a' },
    { kind: 'list_item', text: '- b' },
    { kind: 'table', text: 'A | B\n1 | 2', headerRows: 1 },
    { kind: 'code', text: 'x < 1' },
  ]);
});

test('a rule at the start of Markdown is not front matter, and an unclosed tag affects only its own part', () => {
  const document = readMarkdown(Buffer.from('---\n\nfirst\n\n---\n\n<script>\n\nx\n\n</script>\n\nlast\n'));
  assert.deepEqual(
    document.blocks.map((block) => block.text),
    ['first', 'last'],
  );
});

test('a chunk has its page, the headings above it and its characters', () => {
  const { text, locate } = layOut({
    blocks: [
      { kind: 'heading', text: 'A', level: 1, page: 1 },
      { kind: 'heading', text: 'B', level: 2, page: 1 },
      { kind: 'paragraph', text: 'one', page: 1 },
      { kind: 'heading', text: 'C', level: 2, page: 2 },
      { kind: 'paragraph', text: 'two\0\ud800', page: 3 },
    ],
    facts: {},
    warnings: [],
  });
  assert.equal(text, 'A\n\nB\n\none\n\nC\n\ntwo\ufffd');
  assert.deepEqual(locate(6, 9), { page: 1, page_end: 1, heading_path: ['A', 'B'], char_start: 6, char_end: 9 });
  assert.deepEqual(locate(11, 18), { page: 2, page_end: 3, heading_path: ['A', 'C'], char_start: 11, char_end: 18 });
});

for (const [what, read, code] of [
  ['a PDF with a password', () => readPdf(encryptedPdf('secret')), 'file_encrypted'],
  ['a PDF without objects', () => readPdf(Buffer.from('%PDF-1.7\nnothing of one\n%%EOF\n')), 'file_damaged'],
  ['a Word document with a password', () => readDocx(encryptedOfficeFile()), 'file_encrypted'],
  ['a Word document that was cut', () => readDocx(wordDocument(['Text']).subarray(0, 400)), 'file_damaged'],
  ['a Word document with an external entity', () => readDocx(withEntity()), 'file_damaged'],
] as const) {
  test(`${what} is refused as ${code}`, () => assert.rejects(read, { code }));
}

function withEntity(): Uint8Array {
  const text = '<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/hostname">]><w:document><w:t>&e;</w:t></w:document>';
  return zipSync({ '[Content_Types].xml': strToU8('<Types/>'), 'word/document.xml': strToU8(text) });
}

test('a damaged PDF returns the text that can be recovered', async () => {
  const damaged = pdfOf([[{ x: 50, y: 700, text: 'Hello' }]])
    .toString('latin1')
    .replace(/startxref\n\d+/, 'startxref\n9');
  assert.equal(layOut(await readPdf(Buffer.from(damaged, 'latin1'))).text, 'Hello');
});

test('a file that is not a PDF is refused as a type mismatch', async () => {
  await assert.rejects(readPdf(Buffer.from('GIF89a')), { code: 'file_type_mismatch' });
  await assert.rejects(readDocx(Buffer.alloc(0)), { code: 'file_empty' });
});

test('a PDF is opened with its password in each spelling, and one that needs none with any', async () => {
  const textOf = async (bytes: Buffer, password: string) => layOut(await readPdf(bytes, { password })).text;
  assert.match(await textOf(encryptedPdf('geheim'), 'geheim'), /Hello/);
  assert.match(await textOf(encryptedPdf('SaSLprep'), 'SªSL\u00adprep'), /Hello/);
  assert.match(await textOf(encryptedPdf(''), 'any'), /Hello/);
  await assert.rejects(textOf(encryptedPdf('geheim'), 'Geheim'), { code: 'password_wrong' });
});

test('Markdown with too many marks of emphasis in a paragraph is read as plain text before its parser compares them', () => {
  const before = process.cpuUsage();
  for (const unit of ['_a__', '*a*b', '_a']) {
    const text = unit.repeat(250_000);
    const { blocks, warnings } = readMarkdown(Buffer.from(text));
    assert.deepEqual(blocks, [{ kind: 'paragraph', text }]);
    assert.match(warnings.join(), /^nested_too_deep: /);
  }
  assert.ok(process.cpuUsage(before).user < 5e6);
  const rows = `|a|b|\n|-|-|\n${'|*a*|**b**|\n'.repeat(6_000)}`;
  assert.deepEqual(readMarkdown(Buffer.from(rows)).warnings, []);
});

test('Markdown that is nested too deeply for its parser is read as plain text with a warning', () => {
  for (const marker of ['>', '- ', '1. ', '> - ']) {
    const markdown = `# Title\n\n${marker.repeat(10_000)}deep\n`;
    const { blocks, warnings } = readMarkdown(Buffer.from(markdown));
    assert.deepEqual(blocks, [{ kind: 'paragraph', text: markdown }]);
    assert.match(warnings.join(), /^nested_too_deep: /);
  }
  const shallow = readMarkdown(Buffer.from(`${'> '.repeat(50)}- inner\n`));
  assert.deepEqual([shallow.blocks[0]?.text, shallow.warnings], ['- inner', []]);
});

test('RTF and HTML under the extension .txt are read by their content, and a warning says so', async () => {
  for (const [content, format] of [
    ['{\\rtf1\\ansi Foxes\\par}', 'rtf'],
    ['\ufeff<!DOCTYPE html><html><body><p>Foxes</body></html>', 'html'],
    ['<html lang=en><p>Foxes', 'html'],
  ] as const) {
    const { blocks, warnings, facts } = await readDocument({ format: 'txt', bytes: Buffer.from(content) });
    assert.deepEqual(
      blocks.map(({ text }) => text),
      ['Foxes'],
    );
    assert.match(warnings.join(), new RegExp(`^other_format: .* its content is \\.${format};`));
    assert.match(facts.parser ?? '', new RegExp(`^quartermaster-${format}/`));
  }
  const { blocks } = await readDocument({
    format: 'txt',
    bytes: Buffer.from('<p> is the sign of a paragraph in HTML.'),
  });
  assert.equal(blocks[0]?.text, '<p> is the sign of a paragraph in HTML.');
});

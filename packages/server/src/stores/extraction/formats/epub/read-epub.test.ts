import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { readEpub } from './read-epub.ts';

const page = (body: string) =>
  `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`;

interface Book {
  readonly chapters: Readonly<Record<string, string>>;
  /** The references of the reading order. Default: all chapters. */
  readonly spine?: string;
  readonly items?: string;
  readonly parts?: Readonly<Record<string, string>>;
}

function epubOf({ chapters, spine, items = '', parts = {} }: Book): Uint8Array {
  const names = Object.keys(chapters);
  const listed = names.map((name, at) => `<item id="c${at}" href="${name}" media-type="application/xhtml+xml"/>`);
  const order = spine ?? names.map((_, at) => `<itemref idref="c${at}"/>`).join('');
  const all = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    'OPS/book.opf': `<package><metadata xmlns:dc="x"><dc:title>Foxes &amp; hens</dc:title></metadata><manifest>${listed.join('')}${items}</manifest><spine>${order}</spine></package>`,
    ...Object.fromEntries(
      Object.entries(chapters).map(([name, body]) => [`OPS/${decodeURIComponent(name)}`, page(body)]),
    ),
    ...parts,
  };
  return zipSync(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, Buffer.from(text)])));
}

const textsOf = async (book: Book) => (await readEpub(epubOf(book))).blocks.map(({ text }) => text);

test('chapters are read in reading order, and those outside of it at the end', async () => {
  const chapters = {
    'a%20b.xhtml': '<p>Two</p>',
    'text/c.xhtml': '<h1>One</h1><p>Alpha</p>',
    'd.xhtml': '<p>Answers</p>',
  };
  const spine = '<itemref idref="c2" linear="no"/><itemref idref="c1"/><itemref idref="c0"/><itemref idref="gone"/>';
  assert.deepEqual(await textsOf({ chapters, spine }), ['One', 'Alpha', 'Two', 'Answers']);
  assert.equal((await readEpub(epubOf({ chapters }))).facts.title, 'Foxes & hens');
});

test('a chapter without a heading gets its title in the table of contents, which is not read', async () => {
  const chapters = {
    'a.xhtml': '<p>Once upon a time</p>',
    'b.xhtml': '<h2>Own heading</h2>',
    'c.xhtml': '<p>The end</p>',
  };
  const nav = page(
    '<nav><ol><li><a href="a.xhtml#top">The <b>start</b></a></li><li><a href="b.xhtml">Other</a></li></ol></nav>',
  );
  const ncx =
    '<ncx><navMap><navPoint><navLabel><text>Finish</text></navLabel><content src="c.xhtml"/></navPoint></navMap></ncx>';
  const items =
    '<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/><item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/>';
  const spine = '<itemref idref="n"/><itemref idref="c0"/><itemref idref="c1"/><itemref idref="c2"/>';
  const book = { chapters, items, spine, parts: { 'OPS/nav.xhtml': nav, 'OPS/toc.ncx': ncx } };
  assert.deepEqual(await textsOf(book), ['The start', 'Once upon a time', 'Own heading', 'Finish', 'The end']);
  assert.ok(((await readEpub(epubOf(book))).facts.dropped?.table_of_contents ?? 0) > 0);
});

test('references lead to no other file, address or entity', async () => {
  const chapters = { 'a.xhtml': '<p>Inside</p>' };
  const outside = ['file:///etc/passwd', 'http://127.0.0.1/x', '../../../../etc/passwd', '%zz'];
  const items = outside.map((href, at) => `<item id="o${at}" href="${href}"/>`).join('');
  const spine = `<itemref idref="c0"/>${outside.map((_, at) => `<itemref idref="o${at}"/>`).join('')}`;
  const { blocks, warnings } = await readEpub(epubOf({ chapters, items, spine }));
  assert.deepEqual(
    blocks.map(({ text }) => text),
    ['Inside'],
  );
  assert.match(warnings.join(), /^missing_chapters: These chapters are not in the file: /);
  const entity = { 'a.xhtml': '<p>x</p>' };
  const parts = { 'OPS/a.xhtml': `<!DOCTYPE html [<!ENTITY e SYSTEM "file:///etc/passwd">]>${page('<p>&e;end</p>')}` };
  assert.deepEqual(await textsOf({ chapters: entity, parts }), ['&e;end']);
  const many = '<itemref idref="c0"/>'.repeat(100_000);
  assert.deepEqual(await textsOf({ chapters, spine: many }), ['Inside']);
});

test('books that are encrypted, damaged or too large are refused; hidden fonts are not text', async () => {
  const method = (uri: string) => ({
    'META-INF/encryption.xml': `<encryption><enc:EncryptionMethod Algorithm="${uri}"/></encryption>`,
  });
  const chapters = { 'a.xhtml': '<p>Text</p>' };
  assert.deepEqual(await textsOf({ chapters, parts: method('http://www.idpf.org/2008/embedding') }), ['Text']);
  const whole = Buffer.from(epubOf({ chapters }));
  const bomb = zipSync(
    { mimetype: Buffer.from('application/epub+zip'), 'META-INF/container.xml': Buffer.alloc(33 * 2 ** 20) },
    { level: 9 },
  );
  for (const [bytes, code] of [
    [epubOf({ chapters, parts: method('http://www.w3.org/2001/04/xmlenc#aes256-cbc') }), 'file_encrypted'],
    [whole.subarray(0, whole.length / 2), 'file_damaged'],
    [epubOf({ chapters, spine: '' }), 'file_damaged'],
    [epubOf({ chapters: {} }), 'file_damaged'],
    [zipSync({ 'a.txt': Buffer.from('x') }), 'file_type_mismatch'],
    [bomb, 'unpacked_limit'],
    [Buffer.alloc(0), 'file_empty'],
  ] as const)
    await assert.rejects(readEpub(bytes), { code });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { readHtml } from './read-html.ts';

const article = `<h1>The subject</h1>${'<p>What the page is about takes some room, a sentence or two.</p>'.repeat(8)}`;
const menu = '<a href="/a">First page</a> <a href="/b">Second page</a>';

function textOf(html: string): string {
  return layOut(readHtml(Buffer.from(html))).text;
}

test('a page of elements without an end is read in linear time', () => {
  const before = process.cpuUsage();
  assert.equal(textOf(`${'<div>'.repeat(440_000)}deep`), 'deep');
  assert.equal(textOf(`${'<div><font size=1>'.repeat(4_000)}deep<div>er`), 'deep\n\ner');
  assert.equal(textOf(`${'<p><br><b>bold</b></p>'.repeat(10_000)}flat`).endsWith('flat'), true);
  assert.ok(process.cpuUsage(before).user < 5e6);
});

test('a page whose lists are nested too deeply is refused', () => {
  assert.throws(() => readHtml(Buffer.from('<ul><li>'.repeat(4_000))), { code: 'file_damaged' });
});

for (const [name, boilerplate] of Object.entries({
  'a menu': `<div role="navigation">${menu}</div>`,
  'a foot': `<footer>About us, ${menu}</footer>`,
  'a head of links': `<header>${menu}</header>`,
  'an aside of links': `<aside>${menu}</aside>`,
  'a box that asks for consent': '<div class="cookie-banner">First page of cookies</div>',
})) {
  test(`${name} is not part of the text, and is counted`, () => {
    const { facts, ...document } = readHtml(Buffer.from(`${boilerplate}${article}${boilerplate}`));
    assert.doesNotMatch(layOut({ facts, ...document }).text, /First page/);
    assert.ok((facts.dropped?.boilerplate ?? 0) > 10);
  });
}

test('the header and the footer of an article, and an aside with text, are read', () => {
  const page = `<main><article><header>By the author</header>${article}<footer>Printed in May</footer></article>
    <aside>A remark on the subject</aside></main>`;
  assert.match(textOf(page), /By the author.*Printed in May.*A remark/s);
});

const links = (count: number) => '<li><a href="/page">A page of this site</a></li>'.repeat(count);

test('a list of links to other pages is not part of the text, whatever element holds it', () => {
  for (const list of [`<div>${links(20)}</div>`, `<table><tr><td>${links(20)}</table>`]) {
    assert.equal(textOf(`${list}${article}${list}`), textOf(article));
  }
});

test('a table of contents, a list of sources and a table stay', () => {
  const contents = `<ul>${'<li><a href="#part">A part of this page</a></li>'.repeat(8)}</ul>`;
  const source = '<li>Miller, J. (2019): The lending of books, volume 3. <a href="/doi">10.1000/182</a></li>';
  const table = `<table>${'<tr><td>Monday<td>from nine to five'.repeat(6)}</table>`;
  const page = `${contents}${article}<ol>${source.repeat(8)}</ol>${table}`;
  assert.match(textOf(page), /A part of this page.*The subject.*The lending of books.*Monday \| from nine to five/s);
});

test('words that name a purpose remove a box only if it holds no sentence', () => {
  const box = (content: string) => textOf(`${article}<div class="sidebar">${content}</div>`);
  assert.doesNotMatch(box('<p>Share this!</p>'), /Share/);
  assert.match(box('<p>The sidebar has a remark that readers of this page should know.</p>'), /should know/);
});

test('boxes above the page, and boxes named after offers to readers, are no content even with sentences', () => {
  const sentence = 'A sentence that is longer than a label, and that asks for something.';
  for (const box of ['role="dialog"', 'class="cookieBanner"', 'class="post-newsletter"', 'id="related-posts"']) {
    assert.equal(textOf(`${article}<div ${box}><p>${sentence}</p></div>`), textOf(article));
    assert.match(textOf(`<div ${box}>${article}</div>`), /The subject/);
  }
});

test('beside the main part of a page of a site, an introduction stays and a teaser does not', () => {
  const teaser = '<div><h3>Another page</h3><p>What it says about something else, in a few words.</p></div>';
  const page = `<div><p>An introduction to the page, of one short sentence.</p></div><div>${article}${article}</div>
    <div><p>${'A part of its own, with several sentences. '.repeat(4)}</p></div>${teaser}`;
  assert.match(textOf(page), /An introduction.*A part of its own.*Another page/s);
  assert.match(textOf(`<nav>${menu}</nav>${page}`), /An introduction.*A part of its own/s);
  assert.doesNotMatch(textOf(`<nav>${menu}</nav>${page}`), /Another page|something else/);
});

test('what stands before the title is not part of the text if it has no sentence', () => {
  assert.equal(textOf(`<div><p>Sign in</p><p>Search:</p></div>${article}`), textOf(article));
});

const x = '<mi>x</mi>';
const root = '<msqrt><msup><mi>b</mi><mn>2</mn></msup><mo>−</mo><mn>4</mn><mi>a</mi><mi>c</mi></msqrt>';
const solution = `${x}<mo>=</mo><mfrac><mrow><mo>−</mo><mi>b</mi><mo>±</mo>${root}</mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>`;
const alternative = '{\\displaystyle x=…}';
const formulas = {
  'plain MathML': `<math>${solution}</math>`,
  'MathML with a TeX annotation': `<math><semantics><mrow>${solution}</mrow><annotation encoding="application/x-tex">x</annotation></semantics></math>`,
  'hidden MathML beside a picture': `<span style="display: none"><math alttext="${alternative}">${solution}</math></span><img alt="${alternative}">`,
};
for (const [name, formula] of Object.entries(formulas)) {
  test(`a formula is read once, in order, from ${name}`, () => {
    assert.equal(textOf(`<p>Then ${formula} holds.</p>`), 'Then x = (−b±√(b^2−4ac))/(2a) holds.');
  });
}

test('a formula without a presentation is read from its annotation or its alternative', () => {
  const annotation = '<math><semantics><annotation encoding="application/x-tex">a^2</annotation></semantics></math>';
  assert.equal(textOf(`<p>${annotation} and <math alttext="b^2"></math></p>`), 'a^2 and b^2');
});

test('the description of a picture is part of the text, unless it is short, a file name, or a caption repeats it', () => {
  const page = `<p>Before <img alt="A map of the reading room"> after <img alt="logo"><img alt="my new picture.png"></p>
    <figure><img alt="The desk at noon"><figcaption>The desk at noon, by J. Miller</figcaption></figure>`;
  assert.equal(textOf(page), 'Before [A map of the reading room] after\n\nThe desk at noon, by J. Miller');
});

test('the sign that links to a heading is not part of it', () => {
  const [block] = readHtml(Buffer.from('<h2>5.6 Versions<a class="headerlink" href="#versions">¶</a></h2>')).blocks;
  assert.equal(block?.text, '5.6 Versions');
  assert.equal(textOf('<p>See <a href="#versions">Versions</a></p>'), 'See Versions');
});

test('stray NUL bytes in a page are left out', () => {
  assert.match(textOf(`${article}${article}<p>The le\0tter</p>\0`), /The letter$/);
});

test('a page that consists only of menus keeps them', () => {
  assert.equal(textOf(`<nav>${menu}</nav>`), 'First page Second page');
});

test('the title of the page is reported, and hidden text is counted', () => {
  const { facts } = readHtml(Buffer.from('<title>A &amp; B</title><svg><title>no</title></svg><p>x<p hidden>secret'));
  assert.equal(facts.title, 'A & B');
  assert.equal(facts.dropped?.hidden, 'secret'.length);
});

test('descriptions of few words and the words of a search box are counted', () => {
  const page =
    '<p>Text <img alt="Wiring diagram"><img alt="a map of the old town"><input type=search value="filled"><input type=hidden value=x></p>';
  const { blocks, facts } = readHtml(Buffer.from(page));
  assert.equal(blocks[0]?.text, 'Text [a map of the old town]');
  assert.equal(facts.dropped?.embedded, 'Wiring diagram'.length + 'filled'.length);
});

test('the text of embedded objects and of controls is counted', () => {
  const { facts } = readHtml(
    Buffer.from('<p>x<select><option>one</select><noscript>four</noscript><script>no</script>'),
  );
  assert.equal(facts.dropped?.embedded, 'onefour'.length);
});

test('each row of a table can be read alone, because a cell over several rows is repeated in each', () => {
  const table = `<table><tr><th>Unit<th colspan=2>Both<tr><td rowspan=2>bolt<td>a<td>b<tr><td>c<td>d
    <tr><td colspan=3>all over</table>`;
  assert.equal(textOf(table), 'Unit | Both | Both\nbolt | a | b\nbolt | c | d\nall over');
});

test('cells that claim to span thousands of rows and columns need no memory', () => {
  const cell = `<td rowspan=60000 colspan=60000>${'long '.repeat(2000)}</td>`;
  assert.ok(textOf(`<table>${`<tr>${cell.repeat(20)}</tr>`.repeat(20)}</table>`).length < 10_000_000);
});

test('many cells that span rows and columns repeat at most ten times the text of the page', () => {
  const cells = '<tr><td colspan=50 rowspan=50>a<td>b';
  for (const rows of [1_000, 20_000]) {
    const { length } = textOf(`<table>${cells.repeat(rows)}</table>`);
    assert.ok(length < 100 * rows + 10_000, `${rows} rows become ${length} characters`);
  }
});

for (const [name, page] of Object.entries({
  'for browsers without scripts': `<body><script src=x></script><p>Loading</p><noscript><div>${article}</div></noscript>`,
  'that scripts show': `<body><script src=x></script><div style="visibility: hidden">${article}</div>`,
  'that React sends late': `<body><p>${'A sentence of the page. '.repeat(20)}</p><div hidden id="S:1a">${article}</div>`,
  'of a panel that opens by a click': `${article}<div role="tabpanel" hidden>The subject of the second panel</div>`,
  'that a search opens': `${article}<div hidden="until-found">The subject of the last part</div>`,
  'behind the sign of a CDATA section, which HTML does not have': `<body><![CDATA[${article}`,
})) {
  test(`the text ${name} is read`, () => {
    assert.match(textOf(page), /The subject/);
    assert.doesNotMatch(textOf(`${article}<div hidden id="x">${'secret '.repeat(90)}</div>`), /secret/);
  });
}

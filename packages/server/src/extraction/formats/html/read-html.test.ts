import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { readHtml } from './read-html.ts';

const article = `<h1>The subject</h1>${'<p>What the page is about takes some room, a sentence or two.</p>'.repeat(8)}`;
const menu = '<a href="/a">First page</a> <a href="/b">Second page</a>';

function textOf(html: string): string {
  return layOut(readHtml(Buffer.from(html))).text;
}

test('a page that is nested too deeply is refused, and one with thousands of elements is read', () => {
  assert.throws(() => readHtml(Buffer.from('<div>'.repeat(440_000))), { code: 'file_damaged' });
  assert.equal(textOf(`${'<div>'.repeat(4_000)}deep`), 'deep');
  assert.equal(textOf(`${'<p><br><b>bold</b></p>'.repeat(10_000)}flat`).endsWith('flat'), true);
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

test('a page that consists only of menus keeps them', () => {
  assert.equal(textOf(`<nav>${menu}</nav>`), 'First page Second page');
});

test('the title of the page is reported, and hidden text is counted', () => {
  const { facts } = readHtml(Buffer.from('<title>A &amp; B</title><svg><title>no</title></svg><p>x<p hidden>secret'));
  assert.equal(facts.title, 'A & B');
  assert.equal(facts.dropped?.hidden, 'secret'.length);
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

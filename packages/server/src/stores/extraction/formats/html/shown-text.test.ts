import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { readMarkdown } from '../read-markdown.ts';
import { readHtml } from './read-html.ts';

const textOf = (html: string) => layOut(readHtml(Buffer.from(html))).text;
const markdownOf = (text: string) => layOut(readMarkdown(Buffer.from(text))).text;

function shows(cases: Readonly<Record<string, string>>): void {
  for (const [html, expected] of Object.entries(cases)) assert.equal(textOf(html), expected, html);
}

test('a raised number does not become a part of the number before it', () => {
  shows({
    'Dose 10<sup>6</sup> units': 'Dose 10^6 units',
    '10<sup>&minus;3</sup> g, (a+b)<sup>2</sup>': '10^−3 g, (a+b)^2',
    'limit 2<sup>n+1</sup>, 2<sup>n</sup>, x<sup>k</sup>': 'limit 2^(n+1), 2^n, x^k',
    'rule 12<sup><a href="#n">3</a></sup>': 'rule 12^3',
    'the committee<sup>12</sup> said<sup>[4]</sup>': 'the committee^12 said[4]',
    '5 m<sup>2</sup>, E=mc<sup>2</sup>, s<sup>-1</sup>': '5 m², E=mc², s^-1',
    'the 1<sup>st</sup>, la 5<sup>e</sup>, N<sup>o</sup> 6, Foo<sup>TM</sup>, 1 <sup>3</sup>/<sub>4</sub>':
      'the 1st, la 5e, No 6, FooTM, 1 3/4',
    '<table><tr><td>10<sup>9</sup><td>H<sub>2</sub>O</table>': '10^9 | H2O',
  });
  assert.equal(markdownOf('Dose 10<sup>6</sup> units'), 'Dose 10^6 units');
});

test('struck text is marked', () => {
  shows({
    'Price <del>100</del> <ins>80</ins>': 'Price ~~100~~ 80',
    '<s>a <b>b</b> c</s>!': '~~a b c~~!',
    '<del><p>One</p><p>Two</p></del>': '~~One~~\n\n~~Two~~',
  });
  assert.equal(markdownOf('Price ~~100~~ 80'), 'Price ~~100~~ 80');
});

test('the readings of ruby follow the word, with and without brackets for other programs', () => {
  shows({
    '<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です': '漢字(かんじ)です',
    '<ruby>漢<rt>かん字<rt>じ</ruby>です': '漢(かん字じ)です',
    '<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>': '東京(とうきょう)',
    '<ruby><rb>北</rb><rb>京</rb><rtc><rt>běi</rt><rt>jīng</rt></rtc></ruby>': '北京(běi jīng)',
  });
});

test('check boxes, choices and fields show their values', () => {
  shows({
    '<label><input type=checkbox checked>paid</label> <label><input type=radio>no</label>': '[x] paid [ ] no',
    'Size: <select><option>Small<option selected>Large</select>': 'Size: Large',
    '<select multiple><option selected>Red<option>Green<option selected>Blue</select>': 'Red, Blue',
    'Name: <input value="Smith"><input type=hidden value=x><input type=submit value=Go>': 'Name: Smith',
    '<p><input type=checkbox></p><p>menu</p>': 'menu',
  });
  assert.equal(markdownOf('- [x] Paid\n- [ ] Signed'), '- [x] Paid\n- [ ] Signed');
});

test('items of lists have the numbers that a browser shows', () => {
  shows({
    '<ol start=5><li>five<li value=9>nine<li>ten</ol>': '5. five\n9. nine\n10. ten',
    '<ol type=a start=26><li>z<li>aa<li>ab</ol>': 'z. z\naa. aa\nab. ab',
    '<ol type=I start=4><li>four<li type=i>five</ol>': 'IV. four\nv. five',
    '<ol reversed><li>two<ul><li>inner</ul><li>one</ol>': '2. two\n- inner\n1. one',
    '<ol reversed start=7><li>seven<li>six</ol>': '7. seven\n6. six',
    '<ol style="list-style-type: upper-alpha"><li>A</ol><ol style="list-style:none"><li>x</ol>': 'A. A\n- x',
  });
});

test('boxes that styles make are separate words or paragraphs', () => {
  shows({
    '<p><span style="display:block">Gamma</span><span style="display:block">Delta</span></p>': 'Gamma\n\nDelta',
    '<div style="display:flex"><span>Five</span><span>Six</span></div>': 'Five Six',
    '<div style="display:table"><i style="display:table-cell">Seven</i><i style="display:table-cell">Eight</i></div>':
      'Seven Eight',
    '<style>.row { display: grid } b.c, i { display: inline-block }</style><div class="wide row"><u>A</u><u>B</u></div><b class=c>C</b><i>D</i>':
      'A B\n\nC D',
    'un<b style="color:red">broken</b>': 'unbroken',
  });
});

test('parts that a control of the page opens are read', () => {
  const button = '<button aria-expanded=false aria-controls=a1>Q?</button>';
  shows({
    [`${button}<div id=a1 hidden>Answer</div>`]: 'Q?\n\nAnswer',
    '<div id=a1 style="display:none">Answer</div><p role=button aria-controls="a0 a1">Q?': 'Answer\n\nQ?',
    [`<dl><dt>${button}</dt><dd id=a1 hidden>Answer</dd></dl>`]: 'Q?\n\nAnswer',
    [`<style>.x{display:none}</style><p>${button}</p><p>Text</p><div id=a1 class=x>Answer</div>`]:
      'Q?\n\nText\n\nAnswer',
    '<style>.x{display:none}</style><h3><button>Q?</button></h3><div class=x>Answer</div>': 'Q?\n\nAnswer',
    '<style>.x{display:none}</style><p>Q?<div class=x>Answer</div><script>all(".x")</script>': 'Q?\n\nAnswer',
    '<style>.x{display:none}.on .x{display:block}</style><p>Q?<div class=x>Answer</div>': 'Q?\n\nAnswer',
    '<p>Text</p><button aria-haspopup=menu aria-controls=a1>More</button><div id=a1 hidden>Menu</div>': 'Text\n\nMore',
  });
});

test('text that a style sheet hides, and boxes above the page, are not read', () => {
  shows({
    '<style>/* { */ .x, p.y { display: none }</style><p>A<p class="b x">B<p class=y>C<i class=y>D</i>': 'A',
    '<style>.x{display:none}</style><p>A<p class=x style="display:block">B': 'A\n\nB',
    '<style>@media print{.y{color:red}.x{display:none}}</style><p>A<p class=x>B': 'A\n\nB',
    '<style media=print>.x{display:none}</style><p>A<p class=x>B': 'A\n\nB',
    '<style>.x{display:none}@media (width>9px){.md\\:block{display:block}}</style><p>A<p class="x md:block">B':
      'A\n\nB',
    '<p>A</p><dialog>B</dialog><dialog open>C</dialog><div role=dialog aria-modal=true>D</div>': 'A\n\nC',
  });
});

test('rules for an id and for elements within others hide them, and so do places far beside the page', () => {
  const text = '<p>A</p>';
  shows({
    [`<style>#b{display:none}</style>${text}<p id=b>B`]: 'A',
    [`<style>div.f p, ul#g > li {display:none}</style>${text}<div class=f><b><p>B</b></div><ul id=g><li>C</ul>`]: 'A',
    [`<style>.f>p{display:none}</style>${text}<div class=f><section><p>B</section></div>`]: 'A\n\nB',
    [`<style>.f p{display:none}.f:hover p{display:block}</style>${text}<div class=f><p>B</div>`]: 'A\n\nB',
    [`<style>.f p{display:none}</style>${text}<p>B`]: 'A\n\nB',
    [`<style>.f [x] p, p:after{display:none}</style>${text}<div class=f><p>B</div>`]: 'A\n\nB',
    [`<style>.o{position:absolute;left:-9999px}</style>${text}<p class=o>B<p style="position: fixed; TOP: -100em">C`]:
      'A',
    [`${text}<p style="margin-left:-9999px">B`]: 'A\n\nB',
  });
});

test('text that a style makes hard to see is read, and a warning counts it', () => {
  const characters = (html: string) => readHtml(Buffer.from(html)).warnings.map((each) => /\d+/.exec(each)?.[0]);
  for (const style of [
    'opacity: 0',
    'font-size:0px',
    'color:#fff; background:#FFF',
    'opacity:.0',
    'color:white;background-color:white',
  ]) {
    assert.deepEqual(characters(`<p>A<p style="${style}">se<b>cret`), ['6'], style);
    assert.deepEqual(characters(`<style>.x{${style}}</style><p>A<p class=x>secret</p>B`), ['6'], style);
  }
  for (const style of [
    'opacity: .5',
    'font-size: 0.9em',
    'color:#fff;background:#000',
    'color:inherit;background:inherit',
  ])
    assert.deepEqual(characters(`<p style="${style}">A`), [], style);
  assert.deepEqual(characters('<style>body{opacity:0}@media print{p{opacity:0}}</style><p>A'), []);
});

test('the first paragraph of an item follows its label', () => {
  shows({
    '<ol type=a><li><p>alpha</p><li>\n<div><p>beta</p></div><p>more</p></li></ol>': 'a. alpha\nb. beta\nmore',
    '<ul><li><p>alpha</p><ul><li>beta</ul></ul>': '- alpha\n- beta',
    '<ol><li></li><li><p></p>two</ol>': '1.\n2. two',
  });
  assert.equal(markdownOf('1. one\n\n2. two'), '1. one\n2. two');
});

test('on a short page, a list of links named as a menu is left out', () => {
  const links = Array.from({ length: 9 }, (_, at) => `<li><a href=/${at}>Page ${at}</a>`).join('');
  shows({
    [`<div class=sidebar><ul>${links}</ul></div><div><h1>Install</h1><p>Run it.</div>`]: 'Install\n\nRun it.',
    [`<div class=sidebar><ul>${links}</ul></div>`]: Array.from({ length: 9 }, (_, at) => `- Page ${at}`).join('\n'),
  });
});

test('footnotes of Markdown keep an address and a single word', () => {
  const notes = '[^1]: https://example.org/study.pdf\n[^2]: Smith-2020\nand others\n[^n]: <https://example.org/b>';
  assert.equal(
    markdownOf(`One[^1], two[^2].\n\n${notes}\n\n[link]: https://example.org/c\n\nA [link].`),
    'One[^1], two[^2].\n\n[^1]: https://example.org/study.pdf\n\n[^2]: Smith-2020 and others\n\n[^n]: https://example.org/b\n\nA link.',
  );
  assert.equal(markdownOf('```\n[^a]: no note\n```'), '[^a]: no note');
});

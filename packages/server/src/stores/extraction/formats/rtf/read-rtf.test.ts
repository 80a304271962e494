import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { ExtractionError } from '../../extraction-error.ts';
import { readRtf } from './read-rtf.ts';

const read = (body: string) => readRtf(Buffer.from(`{\\rtf1\\ansi\\ansicpg1252${body}}`, 'latin1'));
const linesOf = (body: string) => layOut(read(body)).text.split(/\n+/);

function codeOf(bytes: Buffer): string {
  try {
    readRtf(bytes);
  } catch (error) {
    if (error instanceof ExtractionError) return error.code;
    throw error;
  }
  return 'read';
}

test('characters come from the code page of their font, or from their number', () => {
  const fonts =
    '{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}{\\f3\\fcharset129 D;}{\\f4\\fcharset178 E;}}';
  assert.deepEqual(
    linesOf(
      `${fonts}\\f0 Caf\\'e9 \\'80\\par\\f1\\'cf\\'f0\\'e8\\par\\f2\\'93\\'8c\\'8b\\'9e\\par{\\f3\\'c7\\'d1}\\f4\\'e3\\par`,
    ),
    ['Café €', 'При', '東京', '한م'],
  );
  assert.deepEqual(
    linesOf(
      "\\u26481?\\u20140?\\u8217\\'92 \\uc2\\u8364\\'a4\\'a4 x\\uc0\\u945 y {\\uc1\\u26481\\loch}z\\u-10179 \\u-8704 \\par",
    ),
    ['東京’ € xαy 東z\u{1f600}'],
  );
  assert.deepEqual(linesOf('a\\~b\\_c\\-d\\{e\\}\\\\\\emdash\\ldblquote x\\rdblquote\\tab y\\line z\\par'), [
    'a\u00a0b\u2011cd{e}\\—“x” y',
    'z',
  ]);
  const raw = Buffer.concat([
    Buffer.from('{\\rtf1\\ansicpg936 '),
    Buffer.from('b1b1bea9', 'hex'),
    Buffer.from('\\par}'),
  ]);
  assert.equal(layOut(readRtf(raw)).text, '北京');
});

test('headings, lists and tables are recognised', () => {
  const styles = '{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 Kop;}{\\s2 heading 2;}{\\s3 Title;}{\\*\\cs9 x;}}';
  const { blocks, facts } = read(
    `${styles}{\\info{\\title The manual}{\\author x}}\\pard\\s3 Manual\\par\\pard\\s1 {\\listtext 1.\\tab}Start\\par\\pard\\s2 Second\\par` +
      "\\pard{\\listtext 2)\\tab}two\\par{\\listtext\\'b7\\tab}dot\\par{\\pntext o\\tab}circle\\par" +
      '\\trowd\\intbl Part\\cell Weeks\\cell\\row\\trowd\\intbl Pump\\par new\\cell 4\\cell\\row\\pard After\\par',
  );
  assert.equal(facts.title, 'The manual');
  assert.deepEqual(
    blocks.map(({ kind, level, text }) => `${kind} ${level ?? ''} ${text}`),
    [
      ...['heading 1 Manual', 'heading 1 1. Start', 'heading 2 Second', 'list_item  2) two', 'list_item  - dot'],
      ...['list_item  - circle', 'table  Part | Weeks\nPump new | 4', 'paragraph  After'],
    ],
  );
});

test('a row without its end is read', () => {
  assert.deepEqual(linesOf('\\intbl one\\cell two\\cell\\row\\intbl three\\cell four\\cell\\pard after\\par'), [
    ...['one | two', 'three | four', 'after'],
  ]);
  assert.deepEqual(linesOf('\\intbl one\\cell two\\cell three'), ['one | two', 'three']);
});

test('notes and boxes follow their paragraph, and what is not shown is counted', () => {
  const { blocks, facts, warnings } = read(
    '{\\header Head{\\pict\\pngblip 89504e47}}{\\*\\generator x;}A{\\footnote\\pard {\\super 1} Note{\\footnote inner}\\par}{\\*\\annotation why}{\\v gone}{\\deleted old}' +
      '{\\field{\\*\\fldinst HYPERLINK "x"}{\\fldrslt link}}{\\shp{\\*\\shpinst{\\sp{\\sn a}{\\sv b}}{\\shptxt Boxed\\par}}{\\shprslt Boxed}}' +
      '{\\*\\shppict{\\pict\\pngblip 89504e47}}{\\nonshppict{\\pict\\wmetafile8 01}}{\\pict\\pngblip 89504e47}{\\object{\\*\\objdata 01}{\\result shown}}\\bin3 \\}{x\\par{\\*\\unknown z}B',
  );
  assert.deepEqual(
    blocks.map(({ text }) => text),
    ['A[2]linkshownx', '[2] 1 Note[1]', '[1] inner', 'Boxed', 'B'],
  );
  assert.deepEqual(facts.dropped, { deleted: 3, hidden: 4, comments: 3, headers_and_footers: 4 });
  assert.match(warnings.join(), /^pictures_not_read: 2 pictures of the document were not read\. Pictures in RTF/);
});

test('check boxes and choices show their state; a text field shows its result', () => {
  const field = (words: string, result = '') =>
    `{\\field{\\*\\fldinst FORM {\\*\\formfield ${words}{\\*\\ffname Name}}}{\\fldrslt ${result}}}`;
  const options = ['Red', 'Green'].map((each) => `{\\*\\ffl ${each}}`).join('');
  const text =
    `${field('{\\fftype1\\ffres1\\ffdefres0}')} yes ${field('{\\fftype1\\ffres25\\ffdefres0}')} no ${field(`{\\fftype2\\ffres1${options}}`)} ` +
    `${field(`{\\fftype2\\ffres25\\ffdefres0${options}}`)} ${field('{\\fftype0{\\*\\ffdeftext x}}', 'typed')}{\\v ${field('{\\fftype1\\ffres1}')}}`;
  assert.deepEqual(linesOf(text), ['[x] yes [ ] no Green Red typed']);
});

test('hostile files end soon, with what can be read or by name', () => {
  assert.equal(codeOf(Buffer.from(`{\\rtf1 ${'{'.repeat(1_000_000)}`)), 'file_damaged');
  assert.equal(codeOf(Buffer.from('')), 'file_empty');
  assert.equal(codeOf(Buffer.from('plain')), 'file_type_mismatch');
  assert.deepEqual(linesOf('before\\par\\bin4000000000 after'), ['before']);
  assert.deepEqual(linesOf("before\\'"), ['before?']);
  assert.deepEqual(linesOf(`a\\${'b'.repeat(100_000)}1`).length, 1);
  assert.deepEqual(linesOf("\\'41".repeat(200_000)), ['A'.repeat(200_000)]);
});

test('fonts of symbols show Greek letters and boxes, also as the result of a field', () => {
  const fonts =
    '{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fnil\\fcharset2 Symbol;}{\\f2\\fcharset2 Wingdings{\\*\\falt x};}}';
  assert.deepEqual(
    linesOf(
      `${fonts}\\f0 abg {\\f1 abg\\'b3\\u-3999 ?} {\\f2 \\'fe\\'a8} {\\field{\\*\\fldinst SYMBOL 97 \\\\f "Symbol"}{\\fldrslt{\\f1 a}}} end\\par`,
    ),
    ['abg αβγ≥α ☑☐ α end'],
  );
});

test('white text on paper and text smaller than two points are left out and counted', () => {
  const colors = '{\\colortbl;\\red255\\green255\\blue255;\\red0\\green0\\blue0;\\red250\\green250\\blue255;}';
  const text = `${colors}a {\\cf1 b}{\\cf3 c}{\\fs2 d}{\\cf2\\fs4 e}{\\cf1\\highlight2 f}\\cf1 g\\plain h\\par\\intbl{\\cf1 i}\\cell j\\cell\\row`;
  assert.deepEqual(linesOf(text), ['a efh', 'i | j']);
  assert.equal(read(text).facts.dropped?.hidden, 'bcdg'.length);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import otherProgram from 'ssf';
import { createFormat, longestShown } from './number-format.ts';

const show = (code: string, value: number | string) => createFormat(code, { epoch: 1900 })(value);

/** Formats with a section for texts, and formats without one. */
const codes = [
  ...['@', '@" kg"', '"ID-"@', '"("@")"', '@@', '@\\ \\k\\g', '[Red]@', '[Blue]"x"@', '@" 0"', 'General', '0', '0.00'],
  ...['0;0;0;"T:"@', '0;-0;0;@', '0;0;0;', ';;;', ';;;@', '0;;;"none"', '"a";"b";"c";"d"', '0;0;;"x"@"y"', '0;"a"@'],
  ...['0;0;"a"@', 'General;@', 'yyyy-mm-dd;@', '#,##0.00;[Red]-#,##0.00;"-";"T "@', '[>5]0;"a"@', '[<5]"a"@'],
  ...['[=1]"yes";[=0]"no";"other"', '[=1]"yes";[=0]"no";@', '0%', 'General;General;General;General', '@;@', '@;;;"x"@'],
  ...['"a";"b"', ';', ';;', 'General;General;General;"x"General'],
];

test('a text is shown by the section for texts that another implementation chooses', () => {
  const texts = ['approved', '007', '12 kg', 'TRUE', '@', '"quoted"', '  blanks  ', 'line\nend', '0;0'];
  for (const code of codes)
    for (const text of texts) {
      const expected = code.endsWith('"x"General') ? `x${text}` : otherProgram.format(code, text);
      assert.equal(show(code, text), expected, `${code} of ${JSON.stringify(text)}`);
    }
});

test('a section for texts is shown without alignment, filling characters and its condition', () => {
  for (const [code, shown] of [
    ['_(@_)', 'text'],
    ['0_);(0);"-"_);_(@_)', 'text'],
    ['* @', 'text'],
    ['@*-', 'text'],
    ['[<5]"a "@', 'a text'],
    ['[$-409]@', 'text'],
    ['"@"', 'text'],
    ['\\@', 'text'],
  ] as const)
    assert.equal(show(code, 'text'), shown, code);
});

test('a text is shown as it is by an invalid code, and where the result would exceed the length of a cell', () => {
  for (const code of ['0;0;0;0;@', '"@', '[', ''.padEnd(300, '@')]) assert.equal(show(code, 'text'), 'text', code);
  const half = 'x'.repeat(longestShown / 2);
  assert.equal(show('@@', half).length, 2 * half.length);
  assert.equal(show('@@', `${half}xx`).length, half.length + 2);
});

test('a number in a format that only shows a text is shown as General', () => {
  for (const code of ['@" kg"', '"ID-"@', '@@', '[>5]0;"a"@']) assert.equal(show(code, 4.25), '4.25', code);
  assert.equal(show('@" kg"', 1234567890123), '1234567890123');
});

test('a percent sign multiplies by 100 each time it occurs, with the commas that divide by 1,000', () => {
  const sections = ['0%%" x"', ...`0%% 0.00%% 0%%% #,##0.0%% 0,% #,##0,% 0.0,,%% 0.0%;0%% 0%%;(0%%);"z"`.split(/\s+/)];
  for (const code of [...sections, '[>1]0%%;0.0%', '0"%"', '0\\%', '0%_%'])
    for (const value of [0, 0.004, 0.07, 0.1234, 0.5, 1, 12, 1234.567])
      assert.equal(show(code, value), otherProgram.format(code, value).trim(), `${code} of ${value}`);
  for (const [code, value, shown] of [
    ['0.00%%', -0.5, '-5000.00%%'],
    ['0.0%;0%%', -0.5, '5000%%'],
    ['0%%;(0%%)', -0.5, '(5000%%)'],
    ['%0%', 0.5, '%5000%'],
    ['0.0‰', 0.5, '0.5‰'],
  ] as const)
    assert.equal(show(code, value), shown, `${code} of ${value}`);
});

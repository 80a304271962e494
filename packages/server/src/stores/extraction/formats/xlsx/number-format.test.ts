import assert from 'node:assert/strict';
import { test } from 'node:test';
import otherProgram from 'ssf';
import { builtInFormat, createFormat, general, longestCode } from './number-format.ts';

/** Formats of numbers. Dates are ISO 8601 here, so no other program is a reference for them. */
const codes = [
  ...'0 0.0 0.00 0.000 00000 # #.## 0.## 0.0# #,##0 #,##0.00 #,##0.000 0, 0.0,'.split(' '),
  ...['#,##0,', '#,##0.0,', '0.00,,', '0.0,,"M"', '0.0,"K"', '#,##0,"k"', '0%', '0.0%', '0.00%', '#,##0%', '0" %"'],
  ...'0.00E+00 | 0.0E+00 | ##0.0E+0 | 0" pcs" | "No. "0 | "$"#,##0.00 | $#,##0 | [$€]#,##0.00 | #,##0.00\\ "zł"'.split(
    ' | ',
  ),
  ...['[Red]0.0', '[Blue]#,##0.00', '0;-0', '0;(0)', '#,##0;(#,##0)', '#,##0.00_);(#,##0.00)', '0;-0;"none"', '0.0;;'],
  ...['"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)'],
  ...['[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', '[>999999]0.0,,"M";[>999]0.0,"K";0', '[>=1000]#,##0,"K";0'],
  ...['[<1]0.00%;0', '[=1]"yes";[=0]"no";0', '[=0]"none";0', '[>=100]"many";"few"', '[<0]-0;0', '(000) 000-0000'],
  ...['000-00-0000', '0000', '# ?/?', '# ??/??', '0.000%', '???0', ';;;'],
];

const positive = [0.004, 0.05, 0.25, 0.5, 1, 1.5, 7, 42, 1234.567, 25_500, 123_456_789];
const others = [0, -0.25, -3, -1234.567];

/** Cases in which the other program differs from the standard: the rule of the standard, and the cells with their texts. */
const decided = {
  'A half is rounded away from zero.': `[["0.0",-0.25,"-0.3"],["[Red]0.0",-0.25,"-0.3"]]`,
  'A number that is rounded to zero has no sign.': `[["00000",-0.25,"00000"],["#,##0",-0.25,"0"],["#,##0,",-0.25,"0"],["#,##0,",-3,"0"],["#,##0.0,",-0.25,"0.0"],["#,##0.0,",-3,"0.0"],["#,##0,\\"k\\"",-0.25,"0k"],["#,##0,\\"k\\"",-3,"0k"],["$#,##0",-0.25,"$0"],["(000) 000-0000",-0.25,"(000) 000-0000"],["0000",-0.25,"0000"]]`,
  '`#` shows no digit where the number has none.': `[["#.##",-0.25,"-.25"]]`,
  'The exponent is a multiple of the three digits before the point, and zero fills them.': `[["##0.0E+0",0,"000.0E+0"]]`,
  'A section without a condition for negative numbers alone shows their sign.': `[["[>=1000000]0.0,,\\"M\\";[>=1000]0.0,\\"K\\";0",-3,"-3"],["[>=1000000]0.0,,\\"M\\";[>=1000]0.0,\\"K\\";0",-1234.567,"-1235"],["[>999999]0.0,,\\"M\\";[>999]0.0,\\"K\\";0",-3,"-3"],["[>999999]0.0,,\\"M\\";[>999]0.0,\\"K\\";0",-1234.567,"-1235"],["[>=1000]#,##0,\\"K\\";0",-3,"-3"],["[>=1000]#,##0,\\"K\\";0",-1234.567,"-1235"],["[<1]0.00%;0",-0.25,"-25.00%"],["[<1]0.00%;0",-3,"-300.00%"],["[<1]0.00%;0",-1234.567,"-123456.70%"],["[=1]\\"yes\\";[=0]\\"no\\";0",-3,"-3"],["[=1]\\"yes\\";[=0]\\"no\\";0",-1234.567,"-1235"],["[=0]\\"none\\";0",-3,"-3"],["[=0]\\"none\\";0",-1234.567,"-1235"],["[>=100]\\"many\\";\\"few\\"",-0.25,"-few"],["[>=100]\\"many\\";\\"few\\"",-3,"-few"],["[>=100]\\"many\\";\\"few\\"",-1234.567,"-few"]]`,
  'Each `0` shows a digit.': `[["(000) 000-0000",-3,"-(000) 000-0003"],["(000) 000-0000",-1234.567,"-(000) 000-1235"],["000-00-0000",-3,"-000-00-0003"],["000-00-0000",-1234.567,"-000-00-1235"]]`,
  '`?` shows a blank where the number has no digit.': `[["???0",-3,"-   3"]]`,
  'The text before the digits is shown, and a number that is rounded to zero has no sign.': `[["\\"No. \\"0",-0.25,"No. 0"]]`,
};

type Cell = readonly [code: string, value: number, shown: string];
const decisions = Object.entries(decided).map(([reason, cells]): [string, Cell[]] => [reason, JSON.parse(cells)]);
const blank = (text: string) => text.trim();
const show = (code: string, value: number) => createFormat(code, { epoch: 1900 })(value);

test('the built-in formats of ECMA-376 18.8.30 are those of another implementation', () => {
  const table = otherProgram.get_table();
  for (const id of [0, 1, 2, 3, 4, 9, 10, 11, 12, 13, 15, 16, 17, 20, 21, 45, 46, 48, 49]) {
    assert.equal(builtInFormat(id), table[id], `format ${id}`);
  }
  // Elsewhere 27 to 36 and 50 to 58 are dates, which are ISO 8601 here.
  const dates = Array.from({ length: 70 }, (_, at) => at).filter((id) => id > 22 && builtInFormat(id) === 'yyyy-mm-dd');
  assert.deepEqual(dates, [27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58]);
  assert.deepEqual([26, 59].map(builtInFormat), [undefined, undefined]);
});

test('660 cells with a positive number show what another implementation shows', () => {
  assert.deepEqual([codes.length, new Set(codes).size, positive.length * codes.length], [60, 60, 660]);
  const differences = codes.flatMap((code) =>
    positive
      .map((value) => [code, value, show(code, value), blank(otherProgram.format(code, value))])
      .filter(([, , shown, reference]) => shown !== reference),
  );
  assert.deepEqual(differences, []);
});

test('240 cells with zero or a negative number show what another implementation or ECMA-376 18.8.31 says', (t) => {
  const cells = codes.flatMap((code) => others.map((value) => [code, value] as const));
  const differences = cells.flatMap(([code, value]) => {
    const [shown, other] = [show(code, value), blank(otherProgram.format(code, value))];
    if (shown === other) return [];
    const [reason] = decisions.find(([, list]) => list.some((cell) => cell[0] === code && cell[1] === value)) ?? [];
    t.diagnostic(`${code} of ${value}: ${shown}, the other program ${other}. ${reason ?? 'Not decided.'}`);
    return [[code, value, shown]];
  });
  assert.equal(cells.length, 240);
  const byCell = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : 1);
  assert.deepEqual(differences.toSorted(byCell), decisions.flatMap(([, list]) => list).toSorted(byCell));
});

const conditions: ReadonlyArray<readonly [text: string, isTrue: (value: number) => boolean]> = [
  ['[=0]', (value) => value === 0],
  ['[>5]', (value) => value > 5],
  ['[>=0]', (value) => value >= 0],
  ['[>-5]', (value) => value > -5],
  ['[<0]', (value) => value < 0],
  ['[<-5]', (value) => value < -5],
  ['[<>0]', (value) => value !== 0],
];

test('a number is shown by the section that another implementation chooses, whatever the conditions and kinds of sections', () => {
  const kinds = ['"text"', 'General', 'yyyy-mm-dd'];
  const differences: string[] = [];
  let compared = 0;
  for (const [[one, isFirst], [two, isSecond], first, second, third] of combinations(conditions, kinds)) {
    for (const value of [-50, -1.5, 0, 1.5, 50]) {
      const code = [one + first, two + second, ...third].join(';');
      // The other program shows no negative number as a date.
      if (value < 0 && code.includes('y')) continue;
      const other = blank(otherProgram.format(code, value)).replace('1900-01-00', '1899-12-30');
      // It applies the last condition also where it is false.
      const expected = third.length === 0 && !isFirst(value) && !isSecond(value) ? general(value) : other;
      const shown = show(code, value);
      compared += 1;
      // A text has the sign unless its condition is for negative numbers alone.
      if (shown !== expected && shown !== '-text') differences.push(`${code} of ${value}: ${shown}, not ${expected}`);
      if (shown === '-text' && expected !== 'text') differences.push(`${code} of ${value}: a text, not ${expected}`);
    }
  }
  assert.deepEqual(differences, []);
  assert.equal(compared, 5_880);
});

test('a later section keeps the sign of a negative number unless its condition excludes all others', () => {
  const cells: ReadonlyArray<readonly [code: string, value: number, shown: string]> = [
    ['[=0]"-";General', -50, '-50'],
    ['[=0]"";General', -1234.5, '-1234.5'],
    ['[>=100]"many";General', -1234567890123, '-1234567890123'],
    ['[=0]"-";[h]:mm', -1.5, '-36:00'],
    ['[=0]"-";yyyy-mm-dd;0', -5, '-5'],
    ['[>5]yyyy-mm-dd;0', -5, '-5'],
    ['[>5]yyyy-mm-dd;[<0]0;General', -5, '5'],
    ['[>5]"a";[=0]"b"', -5, '-5'],
    ['[>5]0;', -5, ''],
    ['0;General', -50, '50'],
    ['General;@', -50, '-50'],
    ['[=0]"-";@', -50, '-50'],
  ];
  assert.deepEqual(
    cells.map(([code, value]) => [code, value, show(code, value)]),
    cells,
  );
});

test('a code of more than 255 characters, or one that is not a format, shows the number itself', () => {
  assert.equal(show(`${'"'.padEnd(longestCode - 2, 'x')}"0`, 1.5).at(-1), '2');
  for (const code of [`${'"'.padEnd(longestCode - 1, 'x')}"0`, '0"', '[', '0;0;0;0;0', '\\'])
    assert.equal(show(code, 1.5), '1.5', code.slice(0, 20));
});

type Condition = (typeof conditions)[number];

function* combinations(all: readonly Condition[], kinds: readonly string[]) {
  const seconds: readonly Condition[] = [...all, ['', () => true]];
  for (const one of all) {
    for (const two of seconds) {
      for (const first of kinds) {
        for (const second of kinds) {
          for (const third of [[], ['General'], ['"text"']]) yield [one, two, first, second, third] as const;
        }
      }
    }
  }
}

test('an exponent of General has two digits and its sign', () => {
  const shown = [1e-7, -1.5e-10, 1.25e25, 1e100, 0.00001, 123456789012].map((value) => general(value));
  assert.deepEqual(shown, ['1E-07', '-1.5E-10', '1.25E+25', '1E+100', '0.00001', '123456789012']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quotedLine } from '../../../../../../../test/support/sample-texts.ts';
import { mostColumns } from '../../qa/sheet.ts';
import { readRecords } from './csv-records.ts';
import { readCsv } from './read-csv.ts';

function rowsOf(bytes: Uint8Array | string) {
  const warnings: string[] = [];
  const workbook = readCsv(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, {
    warn: (warning) => void warnings.push(warning),
  });
  const rows = [...(workbook.sheets[0]?.rows ?? [])];
  return { rows, cells: rows.map((row) => row.cells), warnings, ...workbook.facts.dialect };
}

/** What a sheet has: its text ⇒ its cells, both in JSON. */
const sheets = {
  'semicolons, and commas in the text': `"a, b;c\\nd;e, f\\n" ⇒ [["a, b","c"],["d","e, f"]]`,
  tabs: `"question\\tanswer\\nWho, if; any|one?\\tHe\\n" ⇒ [["question","answer"],["Who, if; any|one?","He"]]`,
  bars: `"x|y|z\\n1,5|2|3\\n" ⇒ [["x","y","z"],["1,5","2","3"]]`,
  'single quotes': `"'a, b','it is c'\\n'd, e','f'\\n" ⇒ [["a, b","it is c"],["d, e","f"]]`,
  apostrophes: `"question,answer\\n'tis it?,\\"don't, please\\"\\n" ⇒ [["question","answer"],["'tis it?","don't, please"]]`,
  backslashes: `"\\"say \\\\\\"yes, sir\\\\\\" now\\",b\\n\\"c\\",d\\n" ⇒ [["say \\"yes, sir\\" now","b"],["c","d"]]`,
  'doubled quotes': `"\\"say \\"\\"yes\\"\\", sir\\",b\\n" ⇒ [["say \\"yes\\", sir","b"]]`,
  'line ends in cells': `"\\"a\\r\\nb\\",c\\r\\nd,e\\r\\n" ⇒ [["a\\nb","c"],["d","e"]]`,
  'old line ends': `"a,b\\rc,d\\r" ⇒ [["a","b"],["c","d"]]`,
  'blanks around quotes': `"a, \\"b, c\\" ,d\\n" ⇒ [["a","b, c","d"]]`,
  'a first line sep=': `"sep=#\\nquestion#answer\\nq#a\\n" ⇒ [["question","answer"],["q","a"]]`,
};
for (const [what, row] of Object.entries(sheets)) {
  test(`a sheet with ${what} is read`, () => {
    const [text, cells] = row.split(' ⇒ ').map((json) => JSON.parse(json));
    assert.deepEqual(rowsOf(text).cells, cells);
  });
}

test('rows report the line on which they begin, counting the line sep=', () => {
  const { rows } = rowsOf('sep=;\n"a\nb";c\n\nd;e');
  assert.deepEqual(
    rows.map(({ row }) => row),
    [2, 4, 5],
  );
});

test('an unclosed quote loses no row', () => {
  const { cells, warnings } = rowsOf('question,answer\n"open,a\nq,b\nr,c\n');
  assert.deepEqual(cells.slice(1), [
    ['"open', 'a'],
    ['q', 'b'],
    ['r', 'c'],
  ]);
  assert.match(warnings.join(), /^Line 2: a quote is never closed/);
});

test('a sheet full of unclosed quotes is read quickly', () => {
  const text = `question,answer\n${'"x,y\n'.repeat(200_000)}`;
  assert.equal(rowsOf(text).rows.length, 200_001);
});

test('records do not depend on how the text is divided into pieces', () => {
  const cell = fc.oneof(fc.string(), fc.constantFrom('a\r\nb', '"', ',', '\n', ''));
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 });
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 7 }), (rows, step) => {
      const text = rows.map(quotedLine).join('\r\n');
      const pieces = Array.from({ length: Math.ceil(text.length / step) }, (_, index) =>
        text.slice(index * step, (index + 1) * step),
      );
      const read = [...readRecords(pieces, { delimiter: ',', quote: '"', escape: 'doubled' })];
      assert.deepEqual(
        read.map(({ cells }) => cells),
        rows.map((row) => row.map((value) => value.replace(/\r\n?/g, '\n'))),
      );
    }),
  );
});

test('the limit sheet_columns accepts exactly as many columns of a row and cuts one more', () => {
  const row = (columns: number) => Array.from({ length: columns }, (_, index) => `c${index}`).join(',');
  const { rows } = rowsOf(`${row(mostColumns)}\n${row(mostColumns + 1)}\n`);
  assert.deepEqual(
    rows.map(({ cells, isCut = false }) => [cells.length, isCut]),
    [
      [mostColumns, false],
      [mostColumns, true],
    ],
  );
});

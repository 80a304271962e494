import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusEntries, corpusFile, corpusTruths } from '../../../../../../../test/support/corpus.ts';
import { readXlsx } from './read-xlsx.ts';

test('every valid workbook of the corpus is read', async () => {
  for (const { path } of corpusEntries('xlsx', 'ok')) {
    const rows = (await readXlsx(corpusFile(path))).sheets.flatMap((sheet) => [...sheet.rows]);
    assert.ok(rows.length > 0, path);
  }
});

/** Normalises words and numbers for the comparison: no case, no midnight, no zero decimals. */
function plain(value: unknown): string {
  if (value === null) return '';
  const text = String(value).replace(/[ T]00:00:00$/, '');
  const isNumber = typeof value === 'number' || /^-?[\d,]*\.?\d+%?$/.test(text);
  if (!isNumber) return text.trim().toLowerCase();
  const amount = Number(text.replace(/[,%]/g, ''));
  return String(text.endsWith('%') ? amount / 100 : amount);
}

for (const { path, truth } of corpusTruths('xlsx', /openpyxl/)) {
  test(`the values of ${path} are those that another tool finds`, async () => {
    const sheets = Object.values(JSON.parse(truth) as Record<string, { rows: unknown[][] }>);
    const expected = sheets.flatMap(({ rows }) => rows.flat().map(plain)).filter((cell) => cell !== '');
    const found = (await readXlsx(corpusFile(path))).sheets.flatMap((sheet) =>
      [...sheet.rows].flatMap(({ cells }) => cells),
    );
    const remaining = new Map<string, number>();
    for (const cell of found.map(plain)) remaining.set(cell, (remaining.get(cell) ?? 0) + 1);
    const missing = expected.filter((cell) => {
      const count = remaining.get(cell) ?? 0;
      remaining.set(cell, count - 1);
      return count <= 0 && !/^\d{4}-\d\d-\d\d/.test(cell);
    });
    // The reader returns numbers as displayed, which may be rounded.
    assert.ok(
      missing.length <= expected.length / 50,
      `${missing.length} of ${expected.length}: ${missing.slice(0, 5)}`,
    );
  });
}

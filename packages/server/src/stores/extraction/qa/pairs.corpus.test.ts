import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusEntries, corpusFile, corpusTruths } from '../../../../../../test/support/corpus.ts';
import type { SheetReport } from '../extraction.ts';
import { readCsv } from '../formats/csv/read-csv.ts';
import { readXlsx } from '../formats/xlsx/read-xlsx.ts';
import { readPairs } from './pairs.ts';
import type { Workbook } from './sheet.ts';

const silent = () => {};

function pairsOf(workbook: Workbook) {
  const sheets: SheetReport[] = [];
  const onSheet = (sheet: SheetReport) => void sheets.push(sheet);
  const read = [...readPairs(workbook, { onDuplicate: 'keep', warn: silent, onSheet })];
  return {
    pairs: read.flatMap((item) => ('pair' in item ? [item.pair] : [])),
    reported: read.flatMap((item) => ('reported' in item ? [item.reported] : [])),
    sheets,
  };
}

/**
 * Normalises for the comparison with the ground truth: composed characters, `
 * `, no surrounding blanks.
 */
function plain(text: string): string {
  return text.normalize('NFC').replace(/\r\n?/g, '\n').trim();
}

for (const { path, truth } of corpusTruths('qa', /^exact/)) {
  test(`every pair of ${path} is read unchanged, and none is added`, async () => {
    const bytes = corpusFile(path);
    const { pairs, reported } = pairsOf(
      path.endsWith('xlsx') ? await readXlsx(bytes) : readCsv(bytes, { warn: silent }),
    );
    const expected = truth
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(reported, []);
    assert.deepEqual(
      pairs.map(({ question, answer }) => [plain(question), plain(answer)]),
      expected.map(({ question, answer }) => [plain(String(question)), plain(String(answer))]),
    );
  });
}

test('a sheet of the corpus without pairs is refused with the names of its columns', async () => {
  let refused = 0;
  for (const { path } of [...corpusEntries('csv', 'ok'), ...corpusEntries('xlsx', 'ok')]) {
    const bytes = corpusFile(path);
    const workbook = /\.csv$/.test(path) ? readCsv(bytes, { warn: silent }) : await readXlsx(bytes);
    const read = () => pairsOf(workbook).sheets.some(({ header }) => header === 'found' || header === 'empty');
    try {
      assert.ok(read(), path);
    } catch (error) {
      assert.equal((error as { code: string }).code, 'columns_not_found', path);
      assert.match((error as Error).message, /Found: .*"/, path);
      refused += 1;
    }
  }
  assert.ok(refused > 10);
});

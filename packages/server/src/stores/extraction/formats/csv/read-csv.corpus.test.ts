import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusFile, corpusTruths } from '../../../../../../../test/support/corpus.ts';
import { readCsv } from './read-csv.ts';

function cellsOf(bytes: Uint8Array): string[][] {
  const workbook = readCsv(bytes, { warn: () => {} });
  return [...(workbook.sheets[0]?.rows ?? [])].map((row) => [...row.cells]);
}

for (const { path, truth } of corpusTruths('csv', /^(?:exact|parallel)/)) {
  test(`every cell of ${path} is read unchanged`, () => {
    const [header = [], ...rows] = cellsOf(corpusFile(path)).filter((cells) => cells.some((cell) => cell !== ''));
    const objects = rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index]])));
    const parsed = JSON.parse(truth);
    const expected = Array.isArray(parsed) ? parsed : (Object.values(parsed)[0] as unknown[]);
    assert.equal(objects.length, expected.length);
    for (const [index, row] of expected.entries())
      assert.deepEqual(Object.values(objects[index] ?? {}), Object.values(row));
  });
}

for (const { path, truth } of corpusTruths('csv', /^reference/)) {
  test(`the table of ${path} has the cells that another tool finds`, () => {
    const expected = truth
      .split('\n')
      .filter((line) => line.startsWith('|') && !/^[|\s:-]+$/.test(line))
      .flatMap((line) => line.split('|').slice(1, -1))
      .map((cell) => cell.trim().replaceAll('&#124;', '|'));
    const filled = (cells: readonly string[]) => cells.filter((cell) => cell !== '').toSorted();
    const read = cellsOf(corpusFile(path)).flat();
    assert.deepEqual(filled(read.map((cell) => cell.trim())), filled(expected));
  });
}

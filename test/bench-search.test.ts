import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSearchOptions } from '../bench/search/search-options.ts';
import { searchQuestions, searchSheets, searchTexts } from '../bench/search/search-texts.ts';
import { describeWrites } from '../bench/search/write-times.ts';

test('the search bench measures everything, or only the sizes and parts that are named', () => {
  assert.deepEqual(parseSearchOptions([]), {
    ...{ sizes: [1_000, 10_000, 100_000, 1_000_000], filterSizes: [], only: null },
  });
  assert.deepEqual(parseSearchOptions(['--sizes', '1000,100000', '--compare', 'f3b76cb']), {
    ...{ sizes: [1000, 100_000], filterSizes: [], only: [], commit: 'f3b76cb' },
  });
  assert.deepEqual(parseSearchOptions(['--only', 'adding,filters', '--sizes', '1000']), {
    ...{ sizes: [], filterSizes: [1000], only: ['adding', 'filters'] },
  });
  assert.throws(() => parseSearchOptions(['--sizes', '10,many']), /at least 1000/);
  assert.throws(() => parseSearchOptions(['--compare', '--only', 'adding']), /--compare needs a value/);
});

test('the sheets of the search bench have a largest number of rows, and all engines get the same texts', () => {
  const sheets = [...searchSheets(250, 100)];
  assert.deepEqual(
    sheets.map(({ rows, csv }) => [rows, csv.trim().split('\n').length - 1]),
    [
      [100, 100],
      [100, 100],
      [50, 50],
    ],
  );
  const first = sheets[0]?.csv.split('\n')[1] ?? '';
  assert.equal([...searchTexts(1)][0], first.replace(',', ' '));
  assert.equal(new Set(searchQuestions()).size, 225);
});

test('the longest write transaction since an earlier reading is described by its bound', () => {
  const reading = (...counts: readonly number[]) =>
    [0.01, 0.05, 0.1, Number.POSITIVE_INFINITY].map((seconds, place) => ({ seconds, count: counts[place] ?? 0 }));
  assert.deepEqual(describeWrites(reading(5, 5, 5, 6), reading(7, 9, 10, 11)), {
    ...{ text: '5 transactions, the longest ≤ 100 ms, 1 above 50 ms', above50: 1 },
  });
  assert.equal(
    describeWrites([], reading(2, 2, 2, 3)).text,
    '3 transactions, the longest ≤ Infinity ms, 1 above 50 ms',
  );
});

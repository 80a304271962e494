import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMet } from '../bench/budgets.ts';
import { parseCompareOptions } from '../bench/compare.ts';
import { compareMetric } from '../bench/compared-rows.ts';

const rate = { name: 'uploads', unit: '/s', better: 'higher' } as const;
const memory = { name: 'idle', unit: 'MiB', better: 'lower' } as const;

test('a comparison of two commits fails a figure that is more than a tenth worse, in either direction', () => {
  assert.equal(compareMetric(rate, [100, 100, 100], [85, 86, 200]).isWorse, true);
  assert.equal(compareMetric(rate, [100, 100, 100], [92, 95, 40]).isWorse, false);
  assert.equal(compareMetric(memory, [100, 100, 100], [115, 120, 90]).isWorse, true);
  assert.equal(compareMetric(memory, [100, 100, 100], [105, 109, 300]).isWorse, false);
});

test('a comparison of two commits pairs the figures of one round, so that a slow machine affects both', () => {
  const row = compareMetric(rate, [100, 50, 10, 80, 100], [100, 50, 10, 80, 100]);
  assert.deepEqual([row.ratio, row.isWorse], [1, false]);
  assert.deepEqual(row.before, { median: 80, min: 10, max: 100 });
});

test('a comparison of two commits whose figure is missing in a round counts as worse', () => {
  assert.equal(compareMetric(rate, [100], []).isWorse, true);
});

test('a comparison of two commits requires a commit and accepts a number of rounds and a subset of the figures', () => {
  assert.deepEqual(parseCompareOptions(['--compare', 'f3b76cb', '--rounds', '3', '--only', 'uploads,lists']), {
    commit: 'f3b76cb',
    rounds: 3,
    only: ['uploads', 'lists'],
  });
  assert.deepEqual(parseCompareOptions(['--compare', 'f3b76cb']), { commit: 'f3b76cb', rounds: 5, only: [] });
  assert.throws(() => parseCompareOptions(['--compare']), /needs a commit/);
  assert.throws(() => parseCompareOptions(['--compare', 'f3b76cb', '--rounds', '0']), /at least 1/);
});

test('a budget is met at its limit and missed beyond it or without a figure', () => {
  const time = { name: 'question', unit: 'ms', limit: 50 };
  assert.deepEqual(
    [50, 50.1, Number.NaN].map((measured) => isMet({ ...time, measured })),
    [true, false, false],
  );
  const share = { name: 'rate', unit: '%', limit: 80, atLeast: true } as const;
  assert.deepEqual(
    [80, 79.9, Number.NaN].map((measured) => isMet({ ...share, measured })),
    [true, false, false],
  );
});

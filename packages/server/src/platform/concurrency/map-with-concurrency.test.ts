import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapWithConcurrency } from './map-with-concurrency.ts';

test('at most the given number of calls run at the same time, and results keep the order of the list', async () => {
  const waiting: Array<() => void> = [];
  let most = 0;
  let running = 0;
  const done = mapWithConcurrency([0, 1, 2, 3, 4, 5, 6], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => waiting.push(resolve));
    running -= 1;
    return item * 2;
  });
  for (let ended = 0; ended < 7; ended += 1) {
    while (waiting.length === 0) await Promise.resolve();
    waiting.pop()?.();
    await Promise.resolve();
  }
  assert.deepEqual(await done, [0, 2, 4, 6, 8, 10, 12]);
  assert.equal(most, 3);
});

test('an empty list gives an empty result, and a failure rejects', async () => {
  assert.deepEqual(await mapWithConcurrency([], 3, () => Promise.reject(new Error('never'))), []);
  await assert.rejects(
    mapWithConcurrency([1, 2, 3, 4], 2, async (item) => {
      if (item === 2) throw new Error('two');
    }),
    /two/,
  );
});

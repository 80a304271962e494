import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createCountdown } from './countdown.ts';

test('a countdown does not count pauses, and ends once', async () => {
  const ended = Promise.withResolvers<void>();
  let ends = 0;
  const countdown = createCountdown(60, () => {
    ends += 1;
    ended.resolve();
  });
  countdown.resume();
  countdown.pause();
  await delay(120);
  assert.equal(ends, 0);
  countdown.resume();
  countdown.resume();
  await ended.promise;
  countdown.stop();
  assert.equal(ends, 1);
});

test('a stopped countdown never ends', async () => {
  const countdown = createCountdown(10, () => assert.fail('it ended'));
  countdown.resume();
  countdown.stop();
  countdown.resume();
  await delay(40);
});

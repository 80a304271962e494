import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryDelayMs } from './retry-delay.ts';

const delays = (policy: Parameters<typeof retryDelayMs>[0], attempts: number[]) =>
  attempts.map((attempt) => retryDelayMs(policy, attempt));

test('each delay is twice as long as the one before, up to the longest', () => {
  assert.deepEqual(delays({ firstMs: 10, longestMs: 60 }, [1, 2, 3, 4, 5, 1_000]), [10, 20, 40, 60, 60, 60]);
});

test('a policy without a longest delay keeps every delay finite', () => {
  assert.deepEqual(delays({ firstMs: 10 }, [1, 2, 11, 31, 5_000]), [10, 20, 10_240, 10 * 2 ** 30, 10 * 2 ** 30]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryUntilStored } from './retry-until-stored.ts';

const policy = { firstMs: 1, longestMs: 2 };
const never = new AbortController().signal;

test('an attempt that fails is repeated until one succeeds', async () => {
  const [errors, retried]: [string[], unknown[]] = [['first', 'second'], []];
  const attempt = async () => {
    const error = errors.shift();
    if (error !== undefined) throw new Error(error);
    return 'stored';
  };
  const onRetry = (error: unknown) => retried.push((error as Error).message);
  assert.equal(await retryUntilStored(attempt, { policy, signal: never, onRetry }), 'stored');
  assert.deepEqual(retried, ['first', 'second']);
});

test('an error that no retry can repair is thrown immediately', async () => {
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    throw new Error('for ever');
  };
  const options = { policy, signal: never, isRetryable: () => false, onRetry: () => assert.fail('it was retried') };
  await assert.rejects(retryUntilStored(attempt, options), { message: 'for ever' });
  assert.equal(attempts, 1);
});

test('an abort ends the pause, and exactly one last attempt follows', async () => {
  const stopping = new AbortController();
  const seen: boolean[] = [];
  const attempt = async () => {
    seen.push(stopping.signal.aborted);
    throw new Error('away');
  };
  const hours = { firstMs: 3_600_000, longestMs: 3_600_000 };
  const onRetry = () => setImmediate(() => stopping.abort());
  await assert.rejects(retryUntilStored(attempt, { policy: hours, signal: stopping.signal, onRetry }));
  assert.deepEqual(seen, [false, true]);
});

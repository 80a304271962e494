import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetryAfter } from './retry-after.ts';

test('Retry-After is read as seconds or as a date', () => {
  assert.equal(readRetryAfter('7'), 7000);
  assert.equal(readRetryAfter('Sat, 21 Nov 2026 12:00:05 GMT', Date.UTC(2026, 10, 21, 12, 0, 0)), 5000);
  assert.equal(readRetryAfter('Sat, 21 Nov 2026 11:00:00 GMT', Date.UTC(2026, 10, 21, 12, 0, 0)), 0);
  assert.equal(readRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 30)), 7000);
  for (const text of ['soon', '-5', '1.5', '', 'May 2026', undefined]) assert.equal(readRetryAfter(text), null);
});

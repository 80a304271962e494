import assert from 'node:assert/strict';
import { test } from 'node:test';
import { releaseBuffers } from './staging-file.ts';

test('a buffer that covers its whole memory is freed; one that shares its memory is kept', () => {
  const whole = Buffer.alloc(64 * 1024, 'x');
  const shared = Buffer.alloc(64 * 1024, 'y');
  const [front, back] = [shared.subarray(0, 100), shared.subarray(100)];
  const pooled = Buffer.from('of the pool');
  releaseBuffers([whole, front, back, pooled]);
  assert.equal(whole.length, 0);
  assert.deepEqual([front.toString(), back.length], ['y'.repeat(100), 64 * 1024 - 100]);
  assert.equal(pooled.toString(), 'of the pool');
});

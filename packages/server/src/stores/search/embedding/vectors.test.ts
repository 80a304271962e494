import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBytes, toBytes } from './vectors.ts';

test('a vector is read as it was stored', () => {
  const vector = Float32Array.of(0.5, -0.25, 1e-9, 3.4e38);
  assert.deepEqual(fromBytes(toBytes(vector)), vector);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWriteShares } from './write-share.ts';

const [kib, mib] = [1024, 1024 * 1024];

test('one file gathers a MiB, 64 share 16 MiB, and nobody gets less than 128 KiB', () => {
  const shares = createWriteShares();
  const first = shares.join();
  assert.equal(first.size(), mib);
  const others = Array.from({ length: 63 }, () => shares.join());
  assert.equal(first.size(), 256 * kib);
  const more = Array.from({ length: 1000 }, () => shares.join());
  assert.equal(first.size(), 128 * kib);
  for (const share of [...more, ...others, ...others]) share.leave();
  assert.equal(first.size(), mib);
});

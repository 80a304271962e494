import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createByteCache } from './collection-index.ts';

test('a cache keeps the entries that were used last, up to its bytes', () => {
  const cache = createByteCache<string, string>(30);
  const held = () => ['1a', '1b', '2a', '2b'].filter((name) => cache.get(Number(name[0]), name.slice(1)) === name);
  cache.set(1, 'a', '1a', 10);
  cache.set(1, 'b', '1b', 10);
  cache.set(2, 'a', '2a', 10);
  assert.deepEqual(held(), ['1a', '1b', '2a']);
  cache.get(1, 'a');
  cache.set(2, 'b', '2b', 10);
  assert.deepEqual(held(), ['1a', '2a', '2b'], '1b was not used for the longest time');
  cache.set(1, 'b', '1b', 30);
  assert.deepEqual(held(), ['1b']);
  cache.set(1, 'a', '1a', 31);
  assert.deepEqual(held(), ['1b'], 'a larger entry than the cache is not kept');
  cache.set(1, 'b', 'other', 31);
  assert.deepEqual(held(), [], 'nor is the entry that it replaces');
  cache.set(2, 'a', '2a', 20);
  cache.set(1, 'a', '1a', 10);
  assert.deepEqual(held(), ['1a', '2a'], 'nothing is counted for removed entries');
});

test('a cache holds the same entries as a list in the order of their use', () => {
  const cache = createByteCache<number, number>(100);
  let used: Array<{ id: number; bytes: number }> = [];
  let random = 7;
  for (let step = 0; step < 5000; step++) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const id = (random >>> 8) % 20;
    const found = used.find((entry) => entry.id === id);
    assert.equal(cache.get(id % 3, id), found?.id);
    const others = used.filter((entry) => entry.id !== id);
    if (found !== undefined) used = [...others, found];
    if (random >>> 31 === 0) continue;
    const bytes = 1 + ((random >>> 16) % 40);
    cache.set(id % 3, id, id, bytes);
    used = [...others, { id, bytes }];
    while (used.reduce((sum, entry) => sum + entry.bytes, 0) > 100) used.shift();
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCommonWords } from './common-words.ts';

test('counts stay cached until the collection changes, is dropped, or is evicted by others', () => {
  const common = createCommonWords(2, 2);
  const statistics = { chunks: 5000, words: 90_000 };
  common.of('a', statistics).set('the', 4000);
  assert.equal(common.of('a', { ...statistics }).get('the'), 4000);
  assert.equal(common.of('a', { chunks: 5000, words: 90_001 }).get('the'), undefined);
  assert.equal(common.of('a', statistics).get('the'), undefined, 'what was counted before is gone');

  common.of('a', statistics).set('the', 4000);
  common.of('b', statistics).set('der', 3000);
  common.of('a', statistics);
  common.of('c', statistics).set('le', 3500);
  assert.equal(common.of('a', statistics).get('the'), 4000);
  assert.equal(common.of('b', statistics).get('der'), undefined, 'asked longest ago');
  common.forget('a');
  assert.equal(common.of('a', statistics).get('the'), undefined);

  const full = common.of('c', statistics).set('a', 1).set('b', 2);
  assert.equal(full.size >= 2, true);
  assert.equal(common.of('c', statistics).size, 0, 'it is emptied when it is full');
});

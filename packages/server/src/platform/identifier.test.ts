import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNewId, isId } from './identifier.ts';

test('ids have 24 characters, are unique, and sort by their creation time, also within a millisecond', () => {
  const clock = { time: 1_795_250_000_000, now: () => clock.time };
  const newId = createNewId(clock);
  const ids = Array.from({ length: 20_000 }, (_, i) => {
    if (i % 100 === 0) clock.time += 1;
    return newId('file');
  });
  assert.ok(ids.every((id) => isId(id) && id.length === 24 && id.startsWith('file')));
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual([...ids].sort(), ids);
});

test('a clock that goes back does not break the order', () => {
  const clock = { time: 1_795_250_000_000, now: () => clock.time };
  const newId = createNewId(clock);
  const first = newId('record');
  clock.time -= 86_400_000;
  assert.ok(newId('record') > first);
});

test('a text without the form of an id is not an id', () => {
  for (const text of [
    '',
    'file',
    '../../../../etc/passwd00',
    'FILE0mwq7q9i9cxe043vsar5',
    'file0mwq7q9i9cxe043vsar5\n',
    'x'.repeat(25),
  ]) {
    assert.ok(!isId(text), text);
  }
});

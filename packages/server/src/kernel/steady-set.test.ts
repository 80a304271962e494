import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSteadySet } from './steady-set.ts';

test('members come and go in any order, and each is there as long as it was not deleted', () => {
  const set = createSteadySet<{ readonly name: string }>();
  const [a, b, c, d] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }];
  for (const member of [a, b, c]) set.add(member);
  set.delete(b);
  set.delete(b);
  set.delete(d);
  assert.deepEqual([set.size(), set.members()], [2, [a, c]]);
  set.add(d);
  assert.deepEqual([set.size(), new Set(set.members())], [3, new Set([a, c, d])]);
  for (const member of [a, c, d]) set.delete(member);
  assert.deepEqual([set.size(), set.members()], [0, []]);
});

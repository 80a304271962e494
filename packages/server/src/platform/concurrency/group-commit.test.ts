import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createGroupCommit } from './group-commit.ts';

describe('group commit', () => {
  test('items added while a group is committed form the next group, each with its own result', async () => {
    const groups: Array<readonly number[]> = [];
    let letGo = () => {};
    const guard = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const commits = createGroupCommit<number, string>(async (items) => {
      groups.push(items);
      if (groups.length === 1) await guard;
      return items.map((item) => `done ${item}`);
    }, 100);
    const first = commits.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    const others = [2, 3, 4].map((item) => commits.add(item));
    letGo();
    assert.equal(await first, 'done 1');
    assert.deepEqual(await Promise.all(others), ['done 2', 'done 3', 'done 4']);
    assert.deepEqual(groups, [[1], [2, 3, 4]]);
  });

  test('a failed group rejects all of its items and none of the next group', async () => {
    let fail = true;
    const commits = createGroupCommit<number, number>(async (items) => {
      if (!fail) return items;
      fail = false;
      throw new Error('the disk said no');
    }, 2);
    const results = await Promise.allSettled([1, 2, 3].map((item) => commits.add(item)));
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'rejected', 'fulfilled'],
    );
  });

  test('no group is larger than the limit', async () => {
    const sizes: number[] = [];
    const commits = createGroupCommit<number, number>(async (items) => {
      sizes.push(items.length);
      return items;
    }, 3);
    await Promise.all([1, 2, 3, 4, 5, 6, 7].map((item) => commits.add(item)));
    assert.deepEqual(sizes, [3, 3, 1]);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeAll } from './fatal-error.ts';

/** Opens the parts 1 to `count`. Those in `failing` fail to close. */
function open(count: number, failing: readonly number[]) {
  const resources = new AsyncDisposableStack();
  const closed: number[] = [];
  for (let part = 1; part <= count; part++) {
    resources.defer(async () => {
      closed.push(part);
      if (failing.includes(part)) throw new Error(`part ${part} failed`);
    });
  }
  return { resources, closed };
}

test('parts are closed once, the last opened first', async () => {
  const { resources, closed } = open(3, []);
  await closeAll(resources);
  await closeAll(resources);
  assert.deepEqual(closed, [3, 2, 1]);
});

test('an error from closing one part is thrown unchanged, and the other parts are still closed', async () => {
  const { resources, closed } = open(3, [2]);
  await assert.rejects(closeAll(resources), { name: 'Error', message: 'part 2 failed' });
  assert.deepEqual(closed, [3, 2, 1]);
});

test('errors from closing several parts are thrown together, in the order in which they occurred', async () => {
  const { resources, closed } = open(4, [1, 2, 4]);
  await assert.rejects(closeAll(resources), (error: AggregateError) => {
    assert.deepEqual(
      error.errors.map(({ message }) => message),
      ['part 4 failed', 'part 2 failed', 'part 1 failed'],
    );
    return true;
  });
  assert.deepEqual(closed, [4, 3, 2, 1]);
});

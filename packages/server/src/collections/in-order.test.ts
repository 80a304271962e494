import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInOrder } from './in-order.ts';

test('a piece is made ready while the one before is done, and all are done in their order', async () => {
  const order: string[] = [];
  const work = createInOrder();
  const first = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const one = work.add(
    async () => 'one',
    async (it) => {
      await first.promise;
      order.push(it);
    },
  );
  const two = work.add(
    async () => {
      ready.resolve();
      return 'two';
    },
    async (it) => void order.push(it),
  );
  await ready.promise;
  assert.deepEqual(order, []);
  first.resolve();
  await Promise.all([one, two]);
  assert.deepEqual(order, ['one', 'two']);
});

test('after a failure nothing begins, its cause is told once, and idle waits for what is under way', async () => {
  const told: unknown[] = [];
  const work = createInOrder((cause) => told.push(cause));
  const first = Promise.withResolvers<void>();
  let isDone = false;
  const one = work.add(
    async () => {},
    async () => {
      await first.promise;
      isDone = true;
    },
  );
  const failure = new Error('not ready');
  const two = work.add(
    () => Promise.reject(failure),
    async () => assert.fail('it was not made ready'),
  );
  const three = work.add(
    async () => assert.fail('nothing begins any more'),
    async () => assert.fail('nothing begins any more'),
  );
  const idle = work.idle().then(() => isDone);
  first.resolve();
  await one;
  await assert.rejects(two, failure);
  await assert.rejects(three, failure);
  assert.equal(await idle, true);
  assert.deepEqual(told, [failure]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../kernel/problem.ts';
import type { AsyncRun } from './async-run.ts';
import { asyncRunDefaults } from './async-runs.ts';
import { createRunQueue, type QueueBounds } from './run-queue.ts';

const bounds: QueueBounds = { maxRunning: 2, maxAccepted: 5, maxAcceptedOfKey: 2, maxSize: 1000 };

/** Returns a run with the members that the queue reads. */
function createRun(id: string, keyId: string | null = null, size = 1, projectId = 'project-1'): AsyncRun {
  // the queue reads no other members
  return { stored: { id, projectId }, keyId, size } as AsyncRun;
}

function openQueue(change: Partial<QueueBounds> = {}) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const queue = createRunQueue({ ...bounds, ...change }, async (run) => {
    begun.push(run.stored.id);
    await new Promise<void>((resolve) => ends.set(run.stored.id, resolve));
    queue.release(run);
  });
  const accept = (run: AsyncRun) => {
    queue.reserve(run);
    queue.enqueue(run);
    return run;
  };
  const end = async (id: string) => {
    ends.get(id)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, begun, accept, end };
}

const isRefusal = (error: unknown) =>
  error instanceof Problem && error.code === 'TOO_MANY_REQUESTS' && Number(error.headers['Retry-After']) > 0;

test('accepted runs wait in the order of their acceptance, and a promoted one does not wait', async () => {
  const { queue, begun, accept, end } = openQueue();
  const [, , , fourth] = ['a', 'b', 'c', 'd', 'e'].map((id) => accept(createRun(id)));
  assert.deepEqual(begun, ['a', 'b']);
  assert.ok(fourth !== undefined && queue.promote(fourth));
  assert.equal(queue.promote(fourth), false);
  assert.deepEqual(begun, ['a', 'b', 'd']);
  await end('d');
  assert.deepEqual(begun, ['a', 'b', 'd']);
  await end('a');
  assert.deepEqual(begun, ['a', 'b', 'd', 'c']);
});

test('projects take turns, and so do the keys of a project, however many waiting runs one of them has', async () => {
  const { begun, accept, end } = openQueue({ maxRunning: 1, maxAccepted: 1000, maxAcceptedOfKey: 1000 });
  accept(createRun('running', 'busy'));
  for (let n = 0; n < 100; n += 1) accept(createRun(`busy-${n}`, 'busy'));
  for (let n = 0; n < 2; n += 1) accept(createRun(`calm-${n}`, 'calm'));
  for (let n = 0; n < 3; n += 1) accept(createRun(`other-${n}`, 'key', 1, 'project-2'));
  for (let n = 0; n < 8; n += 1) await end(begun.at(-1) ?? '');
  const expected = ['busy-0', 'other-0', 'calm-0', 'other-1', 'busy-1', 'other-2', 'calm-1', 'busy-2'];
  assert.deepEqual(begun.slice(1), expected);
});

test('the queue of accepted runs is limited in total, for each key and in bytes, and an ended run frees its place', async () => {
  const { queue, accept, end } = openQueue();
  accept(createRun('a', 'key-1'));
  accept(createRun('b', 'key-1'));
  assert.throws(() => accept(createRun('c', 'key-1')), isRefusal);
  accept(createRun('d', 'key-2'));
  accept(createRun('e'));
  assert.equal(queue.remaining(), 1);
  accept(createRun('f'));
  assert.throws(() => accept(createRun('g', 'key-3')), isRefusal);
  await end('a');
  accept(createRun('h', 'key-1'));
  const { accept: acceptLarge } = openQueue({ maxSize: 10 });
  acceptLarge(createRun('i', null, 8));
  assert.throws(() => acceptLarge(createRun('j', null, 3)), isRefusal);
});

test('the limit queued_runs accepts exactly as many runs and refuses one more', () => {
  const { accept } = openQueue(asyncRunDefaults);
  for (let n = 0; n < asyncRunDefaults.maxAccepted; n += 1) accept(createRun(`${n}`));
  assert.throws(() => accept(createRun('further')), isRefusal);
});

test('the limit queued_runs_of_key accepts exactly as many runs of a key and refuses one more', () => {
  const { accept } = openQueue(asyncRunDefaults);
  for (let n = 0; n < asyncRunDefaults.maxAcceptedOfKey; n += 1) accept(createRun(`${n}`, 'key'));
  assert.throws(() => accept(createRun('further', 'key')), isRefusal);
  accept(createRun('other', 'other key'));
});

test('the limit queued_run_characters accepts requests of exactly its size together and refuses one more', () => {
  const { accept } = openQueue(asyncRunDefaults);
  accept(createRun('a', null, asyncRunDefaults.maxSize - 1));
  accept(createRun('b', null, 1));
  assert.throws(() => accept(createRun('c', null, 1)), isRefusal);
});

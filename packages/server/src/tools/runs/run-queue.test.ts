import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { Problem } from '../../platform/problem.ts';
import type { AsyncRun } from './async-run.ts';
import { asyncRunDefaults } from './async-runs.ts';
import { createRunQueue, type QueueBounds } from './run-queue.ts';

const bounds: QueueBounds = { maxRunning: 2, maxAccepted: 10, maxSize: 1000 };

/** Returns a run with the members that the queue reads. */
function createRun(
  id: string,
  keyId: string | null = null,
  size = 1,
  projectId: string | null = 'project-1',
): AsyncRun {
  // the queue reads no other members
  return { stored: { id, projectId }, keyId, size } as AsyncRun;
}

function openQueue(change: Partial<QueueBounds> = {}) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const queue = createRunQueue({ admission: createAdmission(), ...bounds, ...change }, async (run) => {
    begun.push(run.stored.id);
    await new Promise<void>((resolve) => ends.set(run.stored.id, resolve));
    queue.release(run);
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const accept = (run: AsyncRun) => {
    queue.reserve(run);
    queue.enqueue(run);
    return run;
  };
  const end = async (id: string) => {
    ends.get(id)?.();
    await settle();
  };
  return { queue, begun, accept, end, settle };
}

const isRefusal = (error: unknown) =>
  error instanceof Problem && error.code === 'TOO_MANY_REQUESTS' && Number(error.headers['Retry-After']) > 0;

test('accepted runs wait in the order of their acceptance, and a promoted one does not wait', async () => {
  const { queue, begun, accept, end, settle } = openQueue();
  const [, , , fourth] = ['a', 'b', 'c', 'd', 'e'].map((id) => accept(createRun(id)));
  await settle();
  assert.deepEqual(begun, ['a', 'b']);
  assert.ok(fourth !== undefined && queue.promote(fourth));
  assert.equal(queue.promote(fourth), false);
  await settle();
  assert.deepEqual(begun, ['a', 'b', 'd']);
  await end('d');
  assert.deepEqual(begun, ['a', 'b', 'd']);
  await end('a');
  assert.deepEqual(begun, ['a', 'b', 'd', 'c']);
});

test('a run of another key and one of another project begin at once, however many runs wait', async () => {
  const { begun, accept, end, settle } = openQueue({ maxRunning: 1, maxAccepted: 1000 });
  for (let n = 0; n < 100; n += 1) accept(createRun(`busy-${n}`, 'busy'));
  for (let n = 0; n < 2; n += 1) accept(createRun(`calm-${n}`, 'calm'));
  for (let n = 0; n < 2; n += 1) accept(createRun(`other-${n}`, 'key', 1, 'project-2'));
  await settle();
  assert.deepEqual(begun, ['busy-0', 'calm-0', 'other-0']);
  for (const id of ['other-0', 'calm-0', 'busy-0']) await end(id);
  assert.deepEqual(begun.slice(3), ['other-1', 'calm-1', 'busy-1']);
});

test('accepted runs have places in shares of keys and projects, in items and in characters, and an ended run frees its place', async () => {
  const { queue, accept, end, settle } = openQueue();
  accept(createRun('a', 'key-1'));
  accept(createRun('b', 'key-1'));
  assert.throws(() => accept(createRun('c', 'key-1')), isRefusal);
  accept(createRun('d', 'key-2'));
  for (let n = 0; n < 3; n += 1) accept(createRun(`p-${n}`, null, 1, `p-${n}`));
  assert.equal(queue.remaining(), 4);
  await settle();
  await end('a');
  await end('b');
  accept(createRun('e', 'key-1'));
  const { accept: acceptLarge } = openQueue({ maxSize: 20 });
  acceptLarge(createRun('f', null, 8));
  assert.throws(() => acceptLarge(createRun('g', null, 3)), isRefusal);
  acceptLarge(createRun('h', null, 9, 'project-2'));
});

test('the limit queued_runs accepts exactly as many runs and refuses one more', () => {
  const { accept } = openQueue(asyncRunDefaults);
  for (let n = 0; n < asyncRunDefaults.maxAccepted; n += 1) accept(createRun(`${n}`, null, 1, `project-${n}`));
  assert.throws(() => accept(createRun('further')), isRefusal);
});

test('the limit queued_runs_of_project accepts exactly as many runs without a key and leaves places for other projects', () => {
  const { accept } = openQueue(asyncRunDefaults);
  for (let n = 0; n < asyncRunDefaults.maxAccepted / 2; n += 1) accept(createRun(`${n}`, null, 1, null));
  assert.throws(() => accept(createRun('further', null, 1, null)), isRefusal);
  accept(createRun('other', 'key'));
});

test('the limit queued_runs_of_key accepts exactly as many runs of a key and refuses one more', () => {
  const { accept } = openQueue(asyncRunDefaults);
  for (let n = 0; n < asyncRunDefaults.maxAccepted / 4; n += 1) accept(createRun(`${n}`, 'key'));
  assert.throws(() => accept(createRun('further', 'key')), isRefusal);
  accept(createRun('other', 'other key'));
});

test('the limit queued_run_characters accepts requests of exactly its size together and refuses one more', () => {
  const { accept } = openQueue(asyncRunDefaults);
  accept(createRun('a', null, asyncRunDefaults.maxSize - 1, 'a'));
  accept(createRun('b', null, 1, 'b'));
  assert.throws(() => accept(createRun('c', null, 1, 'c')), isRefusal);
});

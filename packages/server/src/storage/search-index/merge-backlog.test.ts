import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../platform/clock.ts';
import type { RecordJob } from '../../stores/ingestion/record-job-repository.ts';
import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { createRecordJobRepository } from '../repositories/records/record-job-repository.ts';
import { createIndexMerger } from './index-merger.ts';
import { createMergeBacklog, mostAdded } from './merge-backlog.ts';

const silent = { error: () => {} } as never;

/** Whether a promise is settled after all work that is due now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  await setImmediate();
  return settled;
}

test('a writer waits when it has added 100 segments since the last merge began, and continues after the next', async () => {
  let waits = 0;
  const backlog = createMergeBacklog(() => waits++);
  for (let n = 1; n < mostAdded; n++) backlog.added('a');
  await backlog.untilMerged('a');
  backlog.added('a');
  const first = backlog.untilMerged('a');
  const second = backlog.untilMerged('a');
  await backlog.untilMerged('b');
  backlog.ended('b');
  assert.deepEqual([await isSettled(first), await isSettled(second)], [false, false]);
  backlog.begins('a');
  assert.equal(await isSettled(first), false, 'the merge runs');
  backlog.ended('a');
  assert.deepEqual([await isSettled(first), await isSettled(second), waits], [true, true, 2]);
  await backlog.untilMerged('a');
  assert.equal(waits, 2);
});

test('a merge begins a new count, so that a writer waits once for the segments of before it', async () => {
  const temporary = await openTemporaryDatabase();
  let waits = 0;
  const merger = createIndexMerger({
    write: temporary.database.write,
    openThread: () => assert.fail('the collection has no segments'),
    insertPages: () => assert.fail('the collection has no segments'),
    metrics: { merged() {}, failed() {}, waited: () => waits++ },
    times: { clock: systemClock, keptMs: 0 },
    rebuildSome: async () => undefined,
    logger: silent,
  });
  try {
    for (let n = 0; n < mostAdded; n++) merger.changed('a');
    merger.start(async () => true);
    await merger.untilMerged('a');
    await merger.untilMerged('a');
    assert.equal(waits, 1);
  } finally {
    await merger.close();
    await temporary.close();
  }
});

test('no writer waits before merges have started, while no merge is possible, and after the close', async () => {
  const temporary = await openTemporaryDatabase();
  const hasSpace = Promise.withResolvers<boolean>();
  let waits = 0;
  const merger = createIndexMerger({
    write: temporary.database.write,
    openThread: () => assert.fail('no merge is due'),
    insertPages: () => assert.fail('no merge is due'),
    metrics: { merged() {}, failed: () => assert.fail('no merge is due'), waited: () => waits++ },
    times: { clock: systemClock, keptMs: 0 },
    rebuildSome: async () => undefined,
    logger: silent,
  });
  try {
    for (let n = 0; n < mostAdded; n++) merger.changed('a');
    await merger.untilMerged('a');
    assert.equal(waits, 0);
    merger.start(() => hasSpace.promise);
    const waiting = merger.untilMerged('a');
    assert.deepEqual([await isSettled(waiting), waits], [false, 1]);
    hasSpace.resolve(false);
    await waiting;
    const last = merger.untilMerged('a');
    await merger.close();
    await last;
  } finally {
    await merger.close();
    await temporary.close();
  }
});

test('a batch of an import waits for the merge of its collection before its transaction', async () => {
  const temporary = await openTemporaryDatabase();
  try {
    const waited: string[] = [];
    const untilMerged = async (collectionId: string) => {
      waited.push(collectionId);
    };
    const jobs = createRecordJobRepository({ ...temporary.database, untilMerged });
    const lost = { id: 'r', projectId: 'p', collectionId: 'c', token: 't', generation: 0, metadata: '{}' } as RecordJob;
    assert.equal(await jobs.addChunks(lost, []), false);
    assert.deepEqual(waited, ['c']);
  } finally {
    await temporary.close();
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../platform/testing/until.ts';
import { createCollectionRepositories } from '../../../storage/repositories/records/collection-repositories.ts';
import type { RecordJobRepository } from '../../ingestion/record-job-repository.ts';
import { extracted } from '../../ingestion/testing/stepped-extractor.suite.ts';
import { openSteps } from '../../ingestion/testing/stepped-service.suite.ts';
import { openTestDatabase } from '../testing/test-collections.suite.ts';

test('cancelling a record in progress ends it in error, stops the work and discards its new chunks', async (t) => {
  const { create, cancel, settle, contents, extractor, database } = await openSteps(t);
  const recordId = await create();
  const reading = await extractor.next();
  await reading.give('half');
  const { status, error, progress } = (await cancel(recordId)).body.data;
  assert.deepEqual([status, error.code, progress], ['error', 'cancelled', null]);
  await until(() => reading.signal.aborted);
  await assert.rejects(reading.give('late'));
  assert.equal((await settle(recordId)).error.code, 'cancelled');
  assert.deepEqual(await contents(), []);
  await until(async () => (await database.read.selectFrom('chunk').select('id').execute()).length === 0);
});

test('a waiting record can be cancelled and is never read', async (t) => {
  const { create, cancel, retry, settle, extractor } = await openSteps(t);
  await create();
  await create();
  const readings = [await extractor.next(), await extractor.next()];
  const waiting = await create();
  assert.equal((await cancel(waiting)).body.data.error.code, 'cancelled');
  for (const reading of readings) reading.end(extracted(0));
  const last = await create();
  (await extractor.next()).end(extracted(0));
  assert.equal((await settle(last)).status, 'ready', 'the next one that was read is the one behind it');
  assert.equal((await retry(waiting)).body.data.status, 'creating');
  (await extractor.next()).end(extracted(0));
  assert.equal((await settle(waiting)).status, 'ready');
});

test('cancelling a finished record changes nothing', async (t) => {
  const { create, cancel, settle, contents, extractor } = await openSteps(t);
  const recordId = await create();
  const reading = await extractor.next();
  await reading.give('all');
  reading.end();
  const record = await settle(recordId);
  const answer = await cancel(recordId);
  assert.deepEqual([answer.status, answer.body.data], [200, record]);
  assert.deepEqual(await contents(), ['all']);
});

test('a retry of a failed or ready record creates its chunks again, and the old chunks stay until then', async (t) => {
  const { create, retry, settle, contents, extractor } = await openSteps(t);
  const recordId = await create();
  const failure = { kind: 'failed', code: 'file_damaged', message: 'It is broken.', report: null } as const;
  (await extractor.next()).end(failure);
  assert.equal((await settle(recordId)).status, 'error');
  const { status, error, progress } = (await retry(recordId)).body.data;
  assert.deepEqual([status, error, progress], ['creating', null, { stage: 'queued', percent: 0, attempt: 0 }]);
  const second = await extractor.next();
  assert.deepEqual(second.task.source, { kind: 'text', text: 'text' });
  await second.give('old');
  second.end();
  assert.equal((await settle(recordId)).status, 'ready');
  await retry(recordId);
  const third = await extractor.next();
  await third.give('new');
  assert.deepEqual(await contents(), ['old']);
  third.end();
  await settle(recordId);
  assert.deepEqual(await contents(), ['new']);
});

test('a retry does not disturb a record that is being read, and starts a waiting attempt immediately', async (t) => {
  const { create, retry, get, settle, extractor } = await openSteps(t, { timing: { backoffMs: 3_600_000 } });
  const recordId = await create();
  const reading = await extractor.next();
  assert.equal((await retry(recordId)).body.data.status, 'creating');
  await reading.give('kept');
  assert.equal(reading.signal.aborted, false);
  reading.fail(new Error('for a moment'));
  await until(async () => (await get(recordId)).progress.stage === 'queued');
  assert.equal((await retry(recordId)).body.data.status, 'creating');
  (await extractor.next()).end(extracted(0));
  assert.equal((await settle(recordId)).status, 'ready');
});

test('a retry or cancellation of a deleted record, or of a record of another project, results in 404', async (t) => {
  const { create, act, remove, extractor, createProject } = await openSteps(t);
  const recordId = await create();
  (await extractor.next()).end(extracted(0));
  const stranger = createProject();
  const foreign = await stranger.collection();
  for (const action of ['retry', 'cancel']) {
    const answer = await stranger.call('POST', `/v1/collections/${foreign}/records/${recordId}/${action}`, {});
    assert.equal(answer.status, 404);
  }
  await remove(recordId);
  for (const action of ['retry', 'cancel']) assert.equal((await act(recordId, action)).status, 404);
});

test('a completely read source is not read again when the last step fails', async (t) => {
  const database = await openTestDatabase(t);
  let failures = 1;
  const jobs = createCollectionRepositories(database).jobs;
  const failing: RecordJobRepository = {
    ...jobs,
    publish: (...call) => (failures-- > 0 ? Promise.reject(new Error('the disk hesitates')) : jobs.publish(...call)),
  };
  const { create, get, settle, contents, extractor } = await openSteps(t, { database, jobs: failing });
  const recordId = await create();
  const reading = await extractor.next();
  // Fewer chunks would be written by the last step.
  const texts = Array.from({ length: 65 }, (_, n) => `text ${n}`);
  await reading.give(...texts);
  reading.end();
  const { status, num_chunks } = await settle(recordId);
  assert.deepEqual([status, num_chunks], ['ready', texts.length]);
  assert.equal(failures, -1, 'it was published at the second try');
  assert.deepEqual((await contents()).length, texts.length);
  assert.equal((await get(recordId)).progress, null);
  const another = await create();
  const next = await extractor.next();
  next.end(extracted(0));
  assert.equal((await settle(another)).status, 'ready', 'nobody asked for the first document again');
});

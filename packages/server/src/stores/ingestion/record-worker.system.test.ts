import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../platform/testing/until.ts';
import type { Database } from '../../storage/database/database.ts';
import { createCollectionRepositories } from '../../storage/repositories/records/collection-repositories.ts';
import { addCollection, addRecord, claim, contentsOf, keyOf, newChunk } from '../collections/testing/fixtures.suite.ts';
import { openTestDatabase, openTestService } from '../collections/testing/test-collections.suite.ts';
import { createSteppedExtractor, extracted } from './testing/stepped-extractor.suite.ts';
import { openSteps } from './testing/stepped-service.suite.ts';

async function countChunks({ read }: Database): Promise<number> {
  return (await read.selectFrom('chunk').select('id').execute()).length;
}

test('stage and percent are visible while a record is processed, but no chunk before the publication', async (t) => {
  const { create, get, contents, find, settle, extractor } = await openSteps(t);
  const recordId = await create();
  const reading = await extractor.next();
  reading.task.onStage('chunking', 42.4);
  await until(async () => (await get(recordId)).progress.percent === 42);
  assert.deepEqual((await get(recordId)).progress, { stage: 'chunking', percent: 42, attempt: 1 });
  await reading.give('red fox', 'blue fox');
  assert.deepEqual([await contents(), await find('fox'), (await get(recordId)).num_chunks], [[], [], 0]);
  reading.end();
  assert.equal((await settle(recordId)).num_chunks, 2);
  assert.deepEqual(await contents(), ['red fox', 'blue fox']);
});

test('a small record is processed while another project holds every worker, and that project gets no further worker', async (t) => {
  const { create, extractor, createProject, get } = await openSteps(t);
  const queued = [await create('first'), await create('second'), await create('third')];
  const readings = [await extractor.next(), await extractor.next()];
  const other = createProject();
  const collectionId = await other.collection();
  const creating = other.record(collectionId, { content: 'small' });
  const reading = await extractor.next();
  assert.equal(reading.task.source.kind === 'text' && reading.task.source.text, 'small');
  await reading.give('small');
  reading.end();
  assert.equal((await creating).status, 'ready');
  const tries = await Promise.all(queued.map(async (id) => (await get(id)).progress.attempt));
  assert.deepEqual(tries.sort(), [0, 1, 1], 'the third one still waits');
  for (const { end } of readings) end();
  (await extractor.next()).end();
});

test('the keys of a project are served in turn, by the key of the request that queued the record', async (t) => {
  const { create, extractor, createProject, projectId, collectionId } = await openSteps(t);
  const page = `/v1/collections/${collectionId}/records`;
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.push(await create(`many ${n}`));
  const readings = [await extractor.next(), await extractor.next()];
  const other = createProject(projectId, 'other');
  // These records are too large for the reserved workers, so they wait in the queue.
  const large = 'ö'.repeat(40_000);
  await other.call('POST', page, { content: `created ${large}` });
  await other.call('POST', `${page}/${ids[5]}`, { content: `updated ${large}` });
  const texts: string[] = [];
  for (let n = 0; n < 4; n++) {
    readings.shift()?.end();
    const next = await extractor.next();
    readings.push(next);
    const text = next.task.source.kind === 'text' ? next.task.source.text.replace(/ ö+$/, '') : '';
    texts.push(`${next.task.keyId} ${text}`);
  }
  assert.deepEqual(texts, ['other created', 'apik many 2', 'other updated', 'apik many 3']);
  await other.call('POST', `${page}/${ids[0]}/retry`);
  readings.shift()?.end();
  const retried = await extractor.next();
  assert.equal(retried.task.keyId, 'other');
  for (const { end } of [retried, ...readings]) end();
  (await extractor.next()).end();
});

test('a record in progress when the service stops continues at the next start without delay', async (t) => {
  const database = await openTestDatabase(t);
  const first = await openSteps(t, { database });
  const recordId = await first.create();
  const reading = await first.extractor.next();
  await reading.give('one');
  await first.services.close();
  assert.equal(reading.signal.aborted, true);
  assert.deepEqual((await first.get(recordId)).progress, { stage: 'queued', percent: 0, attempt: 0 });

  const second = await openTestService(t, { database });
  const key = { projectId: first.projectId, collectionId: first.collectionId, recordId };
  for await (const _ of second.services.events.follow(key, 'key', t.signal));
  assert.equal((await first.get(recordId)).status, 'ready');
  assert.deepEqual(await first.contents(), ['text']);
});

test('a process without others claims the records of a crashed process immediately', async (t) => {
  const database = await openTestDatabase(t);
  const repositories = createCollectionRepositories(database);
  const collection = await addCollection(repositories);
  const now = Date.now();
  const record = await addRecord(repositories, collection, { createdAt: now, deadlineAt: now + 100_000 });
  // The lease holds for half a minute, but its owner was killed a moment ago.
  const job = await claim(repositories, now);
  await repositories.jobs.addChunks(job, [newChunk('half')]);
  const extractor = createSteppedExtractor();
  const { services } = await openTestService(t, { database, extractor, alone: true });
  const reading = await extractor.next();
  await reading.give('one');
  reading.end();
  for await (const _ of services.events.follow(keyOf(record), 'key', t.signal));
  assert.deepEqual(await contentsOf(repositories, collection), ['one']);
});

test('an update while a record is processed supersedes the work: only the newer source is kept', async (t) => {
  const { create, update, contents, find, settle, extractor, database } = await openSteps(t);
  const recordId = await create('old');
  const old = await extractor.next();
  await old.give('old fox');
  assert.equal((await update(recordId, { content: 'new' })).body.data.status, 'creating');
  const newer = await extractor.next();
  assert.deepEqual(newer.task.source, { kind: 'text', text: 'new' });
  await assert.rejects(old.give('late fox'));
  old.end();
  await until(() => old.signal.aborted);
  await newer.give('new fox');
  newer.end();
  assert.deepEqual(
    [(await settle(recordId)).status, await contents(), await find('fox')],
    ['ready', ['new fox'], ['new fox']],
  );
  await until(async () => (await countChunks(database)) === 1);
});

test('deleting a record while it is processed removes it and stops the work', async (t) => {
  const { create, remove, get, extractor, database, find } = await openSteps(t);
  const recordId = await create();
  const reading = await extractor.next();
  await reading.give('fox');
  assert.equal((await remove(recordId)).status, 200);
  assert.equal(await get(recordId), undefined);
  await until(() => reading.signal.aborted);
  await assert.rejects(reading.give('late'));
  await until(async () => (await database.read.selectFrom('record').select('id').execute()).length === 0);
  assert.equal(await countChunks(database), 0);
  assert.deepEqual(await find('fox'), []);
});

test('deleting a collection while its records are processed removes it and stops the work', async (t) => {
  const { create, call, collectionId, extractor, database } = await openSteps(t, { timing: { leaseMs: 300 } });
  await create();
  const reading = await extractor.next();
  await reading.give('fox');
  assert.equal((await call('DELETE', `/v1/collections/${collectionId}`, {})).status, 200);
  await until(async () => (await database.read.selectFrom('collection').select('id').execute()).length === 0);
  await until(() => reading.signal.aborted);
  assert.equal(await countChunks(database), 0);
});

test('a failure of the service is retried twice before the record ends in error', async (t) => {
  const { create, settle, extractor, contents } = await openSteps(t);
  const recordId = await create();
  for (let attempt = 1; attempt <= 3; attempt++) {
    const reading = await extractor.next();
    await reading.give('half');
    reading.fail(new Error('the disk is on fire at /secret/path'));
  }
  const { status, error } = await settle(recordId);
  assert.deepEqual([status, error.code], ['error', 'internal_error']);
  assert.ok(!error.message.includes('secret'));
  assert.deepEqual(await contents(), []);
});

test('a document that crashes every worker fails after three attempts', async (t) => {
  const { create, settle, extractor, database } = await openSteps(t, { timing: { leaseMs: 300 } });
  const recordId = await create();
  for (let attempt = 1; attempt <= 3; attempt++) {
    await extractor.next();
    await database.write.updateTable('record').set({ lease_until: 1 }).execute();
  }
  assert.equal((await settle(recordId)).error.code, 'internal_error');
});

test('a record ends in error when its deadline passes, whatever its reader does', async (t) => {
  const { create, settle, extractor } = await openSteps(t, { timing: { deadlineMs: 1_000 } });
  const recordId = await create();
  const reading = await extractor.next();
  const { status, error } = await settle(recordId);
  assert.deepEqual([status, error.code], ['error', 'time_limit']);
  assert.equal(reading.signal.aborted, true);
});

test('time in which the service was down does not count against any limit', async (t) => {
  const database = await openTestDatabase(t);
  const repositories = createCollectionRepositories(database);
  const collection = await addCollection(repositories);
  const longAgo = Date.now() - 3 * 24 * 3_600_000;
  const times = { createdAt: longAgo, deadlineAt: longAgo + 1000 };
  const inWork = await addRecord(repositories, collection, { ...times, content: 'in work' });
  await repositories.jobs.addChunks(await claim(repositories, longAgo), [newChunk('half')]);
  const queued = await addRecord(repositories, collection, { ...times, content: 'queued' });
  const { services } = await openTestService(t, { database });
  for (const record of [inWork, queued]) {
    for await (const _ of services.events.follow(keyOf(record), 'key', t.signal));
    assert.equal((await repositories.records.find(keyOf(record)))?.status, 'ready');
  }
});

test('all attempts of a record share its deadline, and their working time is known after a restart', async (t) => {
  const database = await openTestDatabase(t);
  const first = await openSteps(t, { database });
  const recordId = await first.create();
  await first.extractor.next();
  await first.services.close();
  const { worked_ms } = await database.read.selectFrom('record').select('worked_ms').executeTakeFirstOrThrow();
  assert.ok(worked_ms > 0);
  await database.write
    .updateTable('record')
    .set({ worked_ms: 31 * 60_000 })
    .execute();
  const second = await openTestService(t, { database });
  const key = { projectId: first.projectId, collectionId: first.collectionId, recordId };
  for await (const _ of second.services.events.follow(key, 'key', t.signal));
  assert.equal((await first.get(recordId)).error.code, 'time_limit');
});

test('a record that no worker claims in time ends in error, if the service was available', async (t) => {
  const { create, settle } = await openSteps(t, { timing: { maxWaitMs: 0 } });
  assert.equal((await settle(await create())).error.code, 'time_limit');
});

test('a file that was deleted before it was read ends the record in error', async (t) => {
  const { call, extractor, files, projectId, collectionId, create, settle } = await openSteps(t);
  await create('first');
  await create('second');
  const readings = [await extractor.next(), await extractor.next()];
  const file_id = files.add(projectId, 'record_file', 'a.txt', 'text');
  const { body } = await call('POST', `/v1/collections/${collectionId}/records`, { type: 'file', file_id });
  files.remove(file_id);
  for (const reading of readings) reading.end(extracted(0));
  assert.equal((await settle(body.data.record_id)).error.code, 'file_missing');
});

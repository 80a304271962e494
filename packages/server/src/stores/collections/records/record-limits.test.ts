import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queues } from '../../../platform/admission/queues.ts';
import type { Extractor } from '../../extraction/extraction.ts';
import { type Answer, openTestDatabase, openTestPostgres, openTestService } from '../testing/test-collections.suite.ts';

const databases = { SQLite: openTestDatabase, PostgreSQL: openTestPostgres };

/** An extraction that runs until it is cancelled. */
const endless: Extractor = {
  extract: (_task, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { once: true });
    }),
  close: async () => {},
};

function isRefused({ status, body }: Answer, pattern: RegExp): void {
  assert.deepEqual([status, body.error?.code], [429, 'RESOURCE_LIMIT_REACHED']);
  assert.match(body.error.message, pattern);
}

for (const [name, open] of Object.entries(databases)) {
  test(`the limit records_of_collection accepts exactly as many records and refuses one more: ${name}`, async (t) => {
    const service = await openTestService(t, { database: await open(t), limits: { records: 2 } });
    const { call, collection, record } = service.createProject();
    const collectionId = await collection();
    const url = `/v1/collections/${collectionId}/records`;
    const [first] = [await record(collectionId, { content: 'one' }), await record(collectionId, { content: 'two' })];
    isRefused(await call('POST', url, { content: 'three' }), /has 2 records/);
    assert.equal((await call('POST', `${url}/${first.record_id}`, { content: 'changed' })).status, 200);
    await record(await collection(), { content: 'in another collection' });
    assert.equal((await call('DELETE', `${url}/${first.record_id}`)).status, 200);
    await record(collectionId, { content: 'three' });
  });

  test(`the limit waiting_records accepts exactly as many waiting records and refuses one more: ${name}`, async (t) => {
    const limits = { waitingRecords: 2 };
    const service = await openTestService(t, { database: await open(t), extractor: endless, limits });
    const { call, collection } = service.createProject();
    const url = `/v1/collections/${await collection()}/records`;
    const other = `/v1/collections/${await collection()}/records`;
    const create = async (at: string) => (await call('POST', at, { content: 'text' })).body.data.record_id;
    const [first] = [await create(url), await create(other)];
    isRefused(await call('POST', url, { content: 'text' }), /2 records of the project are waiting/);
    assert.equal((await call('POST', `${url}/${first}`, { content: 'changed' })).status, 200, 'it waits already');
    const stranger = service.createProject();
    const strange = `/v1/collections/${await stranger.collection()}/records`;
    assert.equal((await stranger.call('POST', strange, { content: 'text' })).status, 200, 'another project');
    assert.equal((await call('POST', `${url}/${first}/cancel`)).status, 200);
    await create(url);
    isRefused(await call('POST', `${url}/${first}`, { content: 'again' }), /2 records of the project are waiting/);
    isRefused(await call('POST', `${url}/${first}/retry`), /2 records of the project are waiting/);
  });
}

test('the limit waiting_dry_runs accepts exactly as many waiting dry runs, and one of another key begins at once', async (t) => {
  const end = new AbortController();
  const otherBegan = Promise.withResolvers<void>();
  const extractor: Extractor = {
    ...endless,
    extract: (task, signal) => {
      if (task.keyId === 'other') otherBegan.resolve();
      return endless.extract(task, signal);
    },
  };
  const { services, createProject } = await openTestService(t, { extractor });
  const { projectId, collection } = createProject();
  const collectionId = await collection();
  const run = (keyId: string) =>
    services.dryRuns.run({ projectId, keyId, reach: null, collectionId }, { content: 'text' }, end.signal).then(
      () => 'it ended',
      (error) => error.code ?? error.message,
    );
  // The test service runs two at once.
  const accepted = Array.from({ length: 2 + queues.dry_runs.waiting }, () => run('busy'));
  assert.equal(await run('busy'), 'TOO_MANY_REQUESTS');
  const other = run('other');
  await otherBegan.promise;
  end.abort();
  assert.deepEqual([...new Set(await Promise.all([...accepted, other]))], ['The dry run was cancelled.']);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createStreamShares } from '../../../platform/admission/stream-shares.ts';
import { listen } from '../../../platform/http/listen.ts';
import { createCollectionRepositories } from '../../../storage/repositories/records/collection-repositories.ts';
import { createSteppedExtractor } from '../../ingestion/testing/stepped-extractor.suite.ts';
import { newId, openTestDatabase, openTestService } from '../testing/test-collections.suite.ts';
import { createRecordEvents } from './record-events.ts';

async function openStream(t: TestContext) {
  const extractor = createSteppedExtractor();
  const service = await openTestService(t, { extractor });
  const project = service.createProject();
  const collectionId = await project.collection();
  const { body } = await project.call('POST', `/v1/collections/${collectionId}/records`, { content: 'text' });
  const recordId: string = body.data.record_id;
  const server = await listen(service.app, { host: '127.0.0.1', port: 0, setting: 'QUARTERMASTER_FILES_PORT' });
  const path = `/v1/collections/${collectionId}/records/${recordId}`;
  const headers = { authorization: `Bearer ${project.projectId}` };
  const open = (signal?: AbortSignal) =>
    fetch(`${server.url}${path}/events`, { headers, ...(signal === undefined ? {} : { signal }) });
  return { ...service, ...project, extractor, open, path };
}

/** Yields the data of each event as it arrives. */
async function* eventsOf(response: Response) {
  let text = '';
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString();
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = part.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length));
    }
  }
}

test('the stream sends the current state and each change, and ends with the record', async (t) => {
  const { extractor, open } = await openStream(t);
  const reading = await extractor.next();
  const response = await open();
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store, no-transform');
  const events = eventsOf(response);
  const first = (await events.next()).value;
  assert.equal(first.status, 'creating');
  reading.task.onStage('parsing', 50);
  let next = (await events.next()).value;
  while (next.progress.stage !== 'parsing') next = (await events.next()).value;
  assert.equal(next.progress.percent, 50);
  await reading.give('one');
  reading.end();
  const rest = await Array.fromAsync(events);
  const { record_id, ...last } = rest.at(-1);
  assert.match(record_id, /^rcrd/);
  assert.deepEqual(last, { status: 'ready', num_chunks: 1, progress: null, error: null });
});

test('the stream of a finished record reports its status and ends', async (t) => {
  const { extractor, open } = await openStream(t);
  (await extractor.next()).end({ kind: 'failed', code: 'no_text', message: 'Nothing.', report: null });
  await Array.fromAsync(eventsOf(await open()));
  const events = await Array.fromAsync(eventsOf(await open()));
  assert.equal(events.length, 1);
  assert.deepEqual([events[0].status, events[0].error], ['error', { code: 'no_text', message: 'Nothing.' }]);
});

test('the stream ends when the record is deleted', async (t) => {
  const { extractor, open, call, path } = await openStream(t);
  await extractor.next();
  const events = eventsOf(await open());
  await events.next();
  await call('DELETE', path, {});
  assert.equal((await Array.fromAsync(events)).at(-1).status, 'deleting');
});

const onePlace = () =>
  createStreamShares({ admission: createAdmission(), limits: { ofKey: 1, ofProject: 1, ofProcess: 1 } });

test('a client that disconnects frees its place', async (t) => {
  const database = await openTestDatabase(t);
  const { records } = createCollectionRepositories(database);
  const deps = { records: { find: records.find }, shares: onePlace(), pollMs: 10_000, heartbeatMs: 10_000 };
  const events = createRecordEvents(deps);
  const key = { projectId: newId('project'), collectionId: newId('collection'), recordId: newId('record') };
  const creating = { ...deps, shares: onePlace(), records: { find: async () => waitingRecord(key) } };
  const busy = createRecordEvents(creating);
  const client = new AbortController();
  const stream = busy.follow(key, 'k', client.signal)[Symbol.asyncIterator]();
  await stream.next();
  assert.throws(() => busy.follow(key, 'k', client.signal), { code: 'TOO_MANY_REQUESTS' });
  const pending = stream.next();
  client.abort();
  assert.equal((await pending).done, true);
  await busy.follow(key, 'k', new AbortController().signal)[Symbol.asyncIterator]().next();
  assert.equal((await Array.fromAsync(events.follow(key, 'k', client.signal))).length, 0);
});

test('over HTTP the work for a stream stops with its connection', async (t) => {
  const { extractor, open, services } = await openStream(t);
  await extractor.next();
  const client = new AbortController();
  const response = await open(client.signal);
  const events = eventsOf(response);
  await events.next();
  client.abort();
  await assert.rejects(Array.fromAsync(events));
  // The services end their streams, and the app waits for open connections. Both calls return only when nothing hangs.
  await services.close();
});

test('a silent stream sends a comment at intervals', async () => {
  const key = { projectId: 'p', collectionId: 'c', recordId: 'r' };
  const records = { find: async () => waitingRecord(key) };
  const events = createRecordEvents({ records, shares: onePlace(), pollMs: 5, heartbeatMs: 20 });
  const stream = events.follow(key, 'k', new AbortController().signal)[Symbol.asyncIterator]();
  assert.match((await stream.next()).value, /^event: record\ndata: \{.*\}\n\n$/);
  assert.equal((await stream.next()).value, ': still here\n\n');
  events.close();
  assert.equal((await stream.next()).done, true);
});

test('an unread stream frees its place when its client disconnects', async () => {
  const key = { projectId: 'p', collectionId: 'c', recordId: 'r' };
  const records = { find: async () => waitingRecord(key) };
  const events = createRecordEvents({ records, shares: onePlace(), pollMs: 5, heartbeatMs: 20 });
  const client = new AbortController();
  events.follow(key, 'k', client.signal);
  client.abort();
  await events.follow(key, 'k', new AbortController().signal)[Symbol.asyncIterator]().next();
});

function waitingRecord(key: { projectId: string; collectionId: string; recordId: string }) {
  const source = { type: 'text', title: '', content: 'x', fileId: null, url: null, textSplitter: null } as const;
  const state = { status: 'creating', stage: 'queued', percent: 0, attempt: 0, numChunks: 0 } as const;
  const times = { createdAt: 1, updatedAt: 1 };
  return { ...source, ...state, ...times, ...key, id: key.recordId, metadata: {}, error: null, report: null };
}

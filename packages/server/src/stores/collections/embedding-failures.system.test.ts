import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../platform/testing/until.ts';
import { type Embedder, EmbedderUnavailable } from '../search/embedding/embedder.ts';
import { createScriptedEmbedder } from '../search/testing/scripted-embedder.suite.ts';
import { openTestDatabase, openTestService, type TestCollectionsOptions } from './testing/test-collections.suite.ts';

const reason = 'The model refuses the text.';

/** A service whose model refuses texts with a word until it is corrected. */
async function open(t: TestContext, options: Partial<TestCollectionsOptions> = {}) {
  const scripted = createScriptedEmbedder();
  let isCorrect = false;
  const embed: Embedder['embed'] = (texts, signal) =>
    scripted.embed(
      texts.map((text) => (isCorrect ? text.replaceAll('refused', 'odd') : text)),
      signal,
    );
  const service = await openTestService(t, { embedder: { ...scripted, embed }, ...options });
  const project = service.createProject();
  const collectionId = await project.collection({});
  const path = `/v1/collections/${collectionId}`;
  const embedding = async () => (await project.call('GET', path)).body.data.embedding;
  return {
    ...{ service, collectionId, path, embedding, ...project, texts: scripted.texts },
    correct() {
      isCorrect = true;
    },
    isEmbedded: () => until(async () => (await embedding()).num_pending === 0),
  };
}

test('the failed texts of a collection are listed with their reasons, in pages, the last failure first', async (t) => {
  const { call, path, collectionId, record, isEmbedded } = await open(t);
  const expected: unknown[] = [];
  for (let n = 1; n <= 3; n++) {
    const { record_id } = await record(collectionId, { content: `${n} refused text ${'x'.repeat(300)}` });
    await isEmbedded();
    const chunk = (await call('GET', `${path}/records/${record_id}/chunks`)).body.data[0];
    expected.unshift({
      ...{ object: 'EmbeddingFailure', chunk_id: chunk.chunk_id, record_id, excerpt: chunk.content.slice(0, 200) },
      ...{ reason, num_attempts: 1, next_attempt_timestamp: null },
    });
  }
  await record(collectionId, { content: 'a welcome text' });
  await isEmbedded();
  const url = `${path}/embedding_failures`;
  const all = await call('GET', url);
  const ids: string[] = all.body.data.map(({ chunk_id }: { chunk_id: string }) => chunk_id);
  assert.deepEqual(all.body, { status: 'success', data: expected, fetched_count: 3, has_more: false });
  const listed = async (query: string) => {
    const { data, has_more } = (await call('GET', `${url}?${query}`)).body;
    return [data.map(({ chunk_id }: { chunk_id: string }) => ids.indexOf(chunk_id)), has_more];
  };
  assert.deepEqual(await listed('limit=2'), [[0, 1], true]);
  assert.deepEqual(await listed(`limit=2&after=${ids[1]}`), [[2], false]);
  assert.deepEqual(await listed(`limit=1&before=${ids[2]}`), [[1], true]);
  assert.deepEqual(await listed('order=asc'), [[2, 1, 0], false]);
  assert.equal((await call('GET', `${url}?after=chnk${'0'.repeat(20)}`)).status, 404);
  assert.equal((await call('GET', `${url}?after=rcrd${'0'.repeat(20)}`)).status, 422);
  assert.equal((await call('GET', `${url}?limit=101`)).status, 422);
});

test('refused texts are sent once more on request, and only they', async (t) => {
  const { call, path, collectionId, record, embedding, isEmbedded, correct, texts } = await open(t);
  await record(collectionId, { content: 'a refused text' });
  await record(collectionId, { content: 'a welcome text' });
  await isEmbedded();
  const retry = () => call('POST', `${path}/embedding_failures/retry`);
  // The model refuses the text again.
  assert.equal((await retry()).status, 200);
  await until(async () => (await call('GET', `${path}/embedding_failures`)).body.data[0].num_attempts === 2);
  await isEmbedded();
  assert.equal((await embedding()).num_refused, 1);

  correct();
  const { data } = (await retry()).body;
  assert.deepEqual([data.embedding.num_refused, data.embedding.num_pending, data.vectors], [0, 1, 'catching_up']);
  await until(async () => (await embedding()).num_embedded === 2);
  assert.deepEqual((await call('GET', `${path}/embedding_failures`)).body.data, []);
  await until(async () => (await embedding()).last_error === null);
  assert.deepEqual(texts.sort(), ['a odd text', 'a welcome text']);
});

test('a set without failed texts stays complete', async (t) => {
  const { call, path, collectionId, record, isEmbedded } = await open(t);
  await record(collectionId, { content: 'a welcome text' });
  await isEmbedded();
  await until(async () => (await call('GET', path)).body.data.vectors === 'current');
  const { data } = (await call('POST', `${path}/embedding_failures/retry`)).body;
  assert.equal(data.vectors, 'current');
});

test('during a long pause, every waiting collection shows the reason, and a request for an attempt ends the pause', async (t) => {
  const scripted = createScriptedEmbedder();
  let failure: EmbedderUnavailable | null = new EmbedderUnavailable('status 429 (text of a stranger)', 86_400_000);
  const calls: string[] = [];
  const answer = <Value>(kind: string, value: () => Value) => {
    calls.push(kind);
    if (failure !== null) throw failure;
    return value();
  };
  const embedder: Embedder = {
    ...scripted,
    embed: async (texts, signal) => answer('batch', () => scripted.embed(texts, signal)),
    embedQuestion: async (text, signal) => answer('question', () => scripted.embedQuestion(text, signal)),
  };
  const { call, collection, record } = (await openTestService(t, { embedder })).createProject();
  const of = async (id: string) => (await call('GET', `/v1/collections/${id}`)).body.data;
  const [first, second] = [await collection({}), await collection({})];
  await record(first, { content: 'one' });
  await until(async () => (await of(first)).embedding.last_error !== null);
  await record(second, { content: 'two' });
  await until(async () => (await of(second)).embedding.last_error !== null);
  const { last_error } = (await of(second)).embedding;
  assert.equal(last_error.reason, 'The model is paused for all collections: status 429');
  assert.ok(last_error.next_attempt_timestamp - last_error.timestamp > 80_000_000);
  assert.deepEqual((await of(second)).vector_sets[0].last_error.reason, last_error.reason);

  const sent = calls.length;
  const reembed = (id: string) => call('POST', `/v1/collections/${id}/reembed`);
  assert.equal((await reembed(first)).status, 502);
  assert.equal(calls.length, sent + 1, 'it is tried');
  failure = null;
  assert.equal((await reembed(first)).status, 502, 'another attempt within 10 s is not sent');
  assert.equal(calls.length, sent + 1);
});

test('a request to send failed texts again tries a paused model', async (t) => {
  const scripted = createScriptedEmbedder();
  let failure: EmbedderUnavailable | null = new EmbedderUnavailable('status 429', 86_400_000);
  const unlessFailed = <Value>(value: () => Value) => {
    if (failure !== null) throw failure;
    return value();
  };
  const embedder: Embedder = {
    ...scripted,
    embed: async (texts, signal) => unlessFailed(() => scripted.embed(texts, signal)),
    embedQuestion: async (text, signal) => unlessFailed(() => scripted.embedQuestion(text, signal)),
  };
  const { call, collection, record } = (await openTestService(t, { embedder })).createProject();
  const id = await collection({});
  const embedding = async () => (await call('GET', `/v1/collections/${id}`)).body.data.embedding;
  await record(id, { content: 'one' });
  // The attempt has ended when its own failure is stored. Before that, the pause of the model is shown.
  await until(async () => (await embedding()).last_error?.reason === 'status 429');
  failure = null;
  assert.equal((await call('POST', `/v1/collections/${id}/embedding_failures/retry`)).status, 200);
  await until(async () => (await embedding()).num_embedded === 1);
});

test('the failed texts of replaced chunks and of other collections are neither listed nor sent again', async (t) => {
  const database = await openTestDatabase(t);
  const opened = await open(t, { database });
  const { call, path, collectionId, collection, record, isEmbedded } = opened;
  const other = await collection({});
  await record(other, { content: 'another refused text' });
  const { record_id } = await record(collectionId, { content: 'a refused text' });
  await isEmbedded();
  await call('DELETE', `${path}/records/${record_id}`);
  assert.deepEqual((await call('GET', `${path}/embedding_failures`)).body.data, []);
  const ofOther = () => call('GET', `/v1/collections/${other}/embedding_failures`);
  await until(async () => (await ofOther()).body.data.length === 1);
  assert.equal((await call('POST', `${path}/embedding_failures/retry`)).status, 200);
  assert.equal((await ofOther()).body.data[0].num_attempts, 1);
});

test('a missing collection, that of another project and a service without a model are refused', async (t) => {
  const { service, collectionId } = await open(t);
  const stranger = service.createProject();
  for (const id of [collectionId, `coll${'0'.repeat(20)}`, 'x']) {
    const url = `/v1/collections/${id}/embedding_failures`;
    assert.equal((await stranger.call('GET', url)).status, 404);
    assert.equal((await stranger.call('POST', `${url}/retry`)).status, 404);
  }
  const without = (await openTestService(t)).createProject();
  const url = `/v1/collections/${await without.collection({})}`;
  for (const [method, name] of [
    ['GET', 'embedding_failures'],
    ['POST', 'embedding_failures/retry'],
    ['POST', 'reembed'],
  ] as const) {
    const { status, body } = await without.call(method, `${url}/${name}`);
    assert.deepEqual([status, body.error.code], [501, 'NOT_CONFIGURED']);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, openTestCollection, openTestService } from './testing/test-collections.suite.ts';

test('a collection is created, changed and deleted with the bodies of the official client', async (t) => {
  const { call } = (await openTestService(t)).createProject();
  const sent = {
    name: 'Docs',
    type: 'text',
    description: '',
    capacity: 1000,
    embedding_model_id: 'TpEZMod1',
    metadata: {},
  };
  const created = await call('POST', '/v1/collections', sent);
  assert.equal(created.status, 200);
  const { collection_id, created_timestamp, ...rest } = created.body.data;
  assert.match(collection_id, /^coll[a-z0-9]{20}$/);
  const fixed = {
    object: 'Collection',
    num_records: 0,
    num_chunks: 0,
    embedding_size: 0,
    num_refused_chunks: 0,
    embedding: null,
    embedding_paused: false,
    vector_sets: [],
    retrieval: {},
    chunking: {},
    rechunking: { num_pending_records: 0, num_kept_records: 0 },
    vectors: 'off',
    status: 'ready',
  };
  assert.deepEqual(rest, { ...sent, ...fixed, updated_timestamp: created_timestamp });

  const url = `/v1/collections/${collection_id}`;
  assert.deepEqual((await call('GET', url)).body, created.body);
  const list = await call('GET', '/v1/collections?limit=20&order=desc');
  assert.deepEqual(list.body, { status: 'success', data: [created.body.data], fetched_count: 1, has_more: false });

  const changed = await call('POST', url, { name: 'New', description: null, metadata: { a: 'b' } });
  assert.deepEqual(
    [changed.body.data.name, changed.body.data.description, changed.body.data.metadata],
    ['New', '', { a: 'b' }],
  );
  const same = await call('POST', url, {});
  assert.deepEqual(same.body, changed.body);

  const deleted = await call('DELETE', url, {});
  assert.deepEqual([deleted.status, deleted.body], [200, { status: 'success' }]);
  for (const again of [await call('GET', url), await call('POST', url, {}), await call('DELETE', url)]) {
    assert.deepEqual([again.status, again.body.error.code], [404, 'OBJECT_NOT_FOUND']);
  }
});

test('metadata of a collection, a record or a chunk are at most 16 KiB of JSON', async (t) => {
  const { call } = (await openTestService(t)).createProject();
  const ofSize = (bytes: number) => ({ a: 'é'.repeat(100), b: 'x'.repeat(bytes - 200 - '{"a":"","b":""}'.length) });
  const collection = await call('POST', '/v1/collections', { metadata: ofSize(16 * 1024) });
  assert.equal(collection.status, 200);
  const url = `/v1/collections/${collection.body.data.collection_id}`;
  const chunk = await call('POST', `${url}/chunks`, { content: 'some text', metadata: ofSize(16 * 1024) });
  assert.equal(chunk.status, 200);
  const tooMuch = ofSize(16 * 1024 + 1);
  const refusals = [
    await call('POST', '/v1/collections', { metadata: tooMuch }),
    await call('POST', url, { metadata: tooMuch }),
    await call('POST', `${url}/chunks`, { content: 'some text', metadata: tooMuch }),
    await call('POST', `${url}/chunks/${chunk.body.data.chunk_id}`, { metadata: tooMuch }),
  ];
  for (const { status, body } of refusals) {
    assert.deepEqual([status, body.error.code], [422, 'REQUEST_VALIDATION_ERROR']);
    const detail = { path: 'body/metadata', found: '16385 bytes', expected: 'at most 16384 bytes of JSON' };
    assert.deepEqual(body.error.details, [detail]);
  }
});

test('every field has a default, and an explicit null means absent', async (t) => {
  const { call } = (await openTestService(t)).createProject();
  const nulls = { name: null, description: null, type: null, capacity: null, embedding_model_id: null, metadata: null };
  for (const body of [{}, nulls, { unknown: 1 }]) {
    const { data } = (await call('POST', '/v1/collections', body)).body;
    const { name, description, type, capacity, embedding_model_id, metadata } = data;
    const found = { name, description, type, capacity, embedding_model_id, metadata };
    const expected = { name: '', description: '', type: 'text', capacity: 100_000_000, metadata: {} };
    assert.deepEqual(found, { ...expected, embedding_model_id: 'QmBm25v1' });
  }
});

test('metadata are returned unchanged, whatever their names and values', async (t) => {
  const { call } = (await openTestService(t)).createProject();
  const metadata = { 'a\nb': 1, '': null, Ω: [{ deep: true }], nul: '\0', constructor: 'x' };
  const { data } = (await call('POST', '/v1/collections', { metadata })).body;
  assert.deepEqual(data.metadata, metadata);
  assert.deepEqual((await call('GET', `/v1/collections/${data.collection_id}`)).body.data.metadata, metadata);
});

test('a field that exceeds its limits is refused by name', async (t) => {
  const { call } = (await openTestService(t)).createProject();
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, n]));
  const cases: Array<[object, string]> = [
    [{ name: 'x'.repeat(128) }, 'body/name'],
    [{ name: 'a\0b' }, 'body/name'],
    [{ description: 'x'.repeat(513) }, 'body/description'],
    [{ type: 'image' }, 'body/type'],
    [{ capacity: 0 }, 'body/capacity'],
    [{ capacity: '1000' }, 'body/capacity'],
    [{ embedding_model_id: 'short' }, 'body/embedding_model_id'],
    [{ metadata: many }, 'body/metadata'],
    [{ metadata: { ['k'.repeat(65)]: 1 } }, 'body/metadata'],
  ];
  for (const [body, path] of cases) {
    const { status, body: answer } = await call('POST', '/v1/collections', body);
    assert.deepEqual(
      [status, answer.error?.code],
      [422, 'REQUEST_VALIDATION_ERROR'],
      JSON.stringify(body).slice(0, 80),
    );
    assert.ok(answer.error.message.startsWith(path), answer.error.message);
  }
});

test('collections are paged in both directions, and an unknown cursor is not found', async (t) => {
  const { call, collection } = (await openTestService(t)).createProject();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push(await collection());
  const page = async (query: string) => {
    const { body } = await call('GET', `/v1/collections?${query}`);
    return [
      body.data.map((item: { collection_id: string }) => ids.indexOf(item.collection_id)),
      body.fetched_count,
      body.has_more,
    ];
  };
  assert.deepEqual(await page('limit=2'), [[4, 3], 2, true]);
  assert.deepEqual(await page(`limit=2&order=asc&before=${ids[1]}`), [[0], 1, false]);
  for (const cursor of [newId('record'), 'nonsense', '%00']) {
    assert.equal((await call('GET', `/v1/collections?after=${cursor}`)).status, 422, cursor);
  }
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'order=up']) {
    assert.equal((await call('GET', `/v1/collections?${query}`)).status, 422, query);
  }
});

test('an object of another project is not found, on any path and with any method', async (t) => {
  const service = await openTestService(t);
  const owner = service.createProject();
  const stranger = service.createProject();
  const collectionId = await owner.collection({ type: 'text' });
  const record = await owner.record(collectionId, { content: 'a secret' });
  const base = `/v1/collections/${collectionId}`;
  const chunk = (await owner.call('GET', `${base}/chunks`)).body.data[0];
  const mine = await stranger.collection();
  const others = [
    ['GET', base],
    ['POST', base, { name: 'x' }],
    ['DELETE', base, {}],
    ['POST', `${base}/records`, { content: 'x' }],
    ['GET', `${base}/records`],
    ['POST', `${base}/chunks`, { content: 'x' }],
    ['GET', `${base}/chunks`],
    ['POST', `${base}/chunks/query`, { query_text: 'secret' }],
    ...[base, `/v1/collections/${mine}`].flatMap((under) => [
      ['GET', `${under}/records/${record.record_id}`],
      ['POST', `${under}/records/${record.record_id}`, { metadata: {} }],
      ['DELETE', `${under}/records/${record.record_id}`, {}],
      ['GET', `${under}/records/${record.record_id}/chunks`],
      ['GET', `${under}/records/${record.record_id}/events`],
      ['GET', `${under}/chunks/${chunk.chunk_id}`],
      ['POST', `${under}/chunks/${chunk.chunk_id}`, { content: 'x' }],
      ['DELETE', `${under}/chunks/${chunk.chunk_id}`, {}],
    ]),
  ] as Array<['GET' | 'POST' | 'DELETE', string, object?]>;
  for (const [method, url, body] of others) {
    const { status, body: answer } = await stranger.call(method, url, body);
    assert.deepEqual([status, answer.error?.code], [404, 'OBJECT_NOT_FOUND'], `${method} ${url}`);
  }
  assert.deepEqual((await stranger.call('GET', `/v1/collections?before=${mine}`)).body.data, []);
  const query = await stranger.call('POST', `/v1/collections/${mine}/chunks/query`, { query_text: 'secret' });
  assert.deepEqual(query.body.data, []);
  assert.equal((await owner.call('GET', `${base}/records/${record.record_id}`)).body.data.title, '');
});

test('a malformed id in a path is reported as not found', async (t) => {
  const { call, collectionId } = await openTestCollection(t);
  for (const id of ['x', '%00', '..%2f..', "'%20or%201=1", newId('record'), 'é', 'x'.repeat(200)]) {
    const urls = ['', '/records', '/chunks'].map((rest) => `/v1/collections/${id}${rest}`);
    urls.push(`/v1/collections/${collectionId}/records/${id}`, `/v1/collections/${collectionId}/chunks/${id}`);
    for (const url of urls) assert.equal((await call('GET', url)).status, 404, url);
  }
});

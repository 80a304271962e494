import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goodScore, matchScore } from '@quartermaster/contract';
import { openTestCollection, openTestService } from '../testing/test-collections.suite.ts';

test('a chunk is created directly, listed, changed and deleted', async (t) => {
  const { call, collectionId } = await openTestCollection(t);
  const url = `/v1/collections/${collectionId}/chunks`;
  const created = await call('POST', url, { content: 'Foxes are small.', metadata: null });
  const { chunk_id, created_timestamp, ...rest } = created.body.data;
  assert.match(chunk_id, /^chnk[a-z0-9]{20}$/);
  assert.deepEqual(rest, {
    record_id: null,
    collection_id: collectionId,
    ...{ title: null, file_id: null, file_name: null, url: null },
    content: 'Foxes are small.',
    num_tokens: 5,
    metadata: {},
    locator: null,
    updated_timestamp: created_timestamp,
  });
  assert.deepEqual((await call('GET', `${url}/${chunk_id}`)).body, created.body);
  const list = { status: 'success', data: [created.body.data], fetched_count: 1, total_count: null, has_more: false };
  assert.deepEqual((await call('GET', url)).body, list);

  const changed = await call('POST', `${url}/${chunk_id}`, { content: 'Bears.', metadata: { a: [1] } });
  assert.deepEqual(
    [changed.body.data.content, changed.body.data.num_tokens, changed.body.data.metadata],
    ['Bears.', 3, { a: [1] }],
  );
  assert.deepEqual((await call('POST', `${url}/${chunk_id}`, {})).body, changed.body);
  assert.deepEqual((await call('POST', `${url}/query`, { query_text: 'foxes' })).body.data, []);
  assert.equal((await call('POST', `${url}/query`, { query_text: 'bears' })).body.fetched_count, 1);

  assert.deepEqual((await call('DELETE', `${url}/${chunk_id}`, {})).body, { status: 'success' });
  assert.equal((await call('GET', `${url}/${chunk_id}`)).status, 404);
  assert.equal((await call('DELETE', `${url}/${chunk_id}`, {})).status, 404);
  assert.deepEqual((await call('POST', `${url}/query`, { query_text: 'bears' })).body.data, []);
});

test('a chunk that exceeds the quota of its project is refused with 429, and one that fits or shrinks is stored', async (t) => {
  const ofCollection = 3 * JSON.stringify({}).length; // metadata, retrieval and chunking
  const { call, collection } = (await openTestService(t, { maxProjectBytes: 30 + ofCollection })).createProject();
  const url = `/v1/collections/${await collection()}/chunks`;
  const refused = await call('POST', url, { content: 'x'.repeat(29) });
  assert.deepEqual([refused.status, refused.body.error.code], [429, 'RESOURCE_LIMIT_REACHED']);
  const { status, body } = await call('POST', url, { content: 'x'.repeat(28) });
  assert.equal(status, 200);
  const change = async (change: object) => (await call('POST', `${url}/${body.data.chunk_id}`, change)).status;
  assert.equal(await change({ content: 'x'.repeat(29) }), 429);
  assert.equal(await change({ metadata: { a: 1 } }), 429);
  assert.equal(await change({ content: 'x'.repeat(28) }), 200);
});

test('metadata contain no unpaired surrogate, so that a search with a filter can read them all', async (t) => {
  const { call, collection, record } = (await openTestService(t)).createProject();
  const metadata = { a: 'x\ud83d', 'k\udc00': 'fox \ud83e\udd8a \\ud800 \u0001', n: 1 };
  const expected = { a: 'x\ufffd', 'k\ufffd': 'fox \ud83e\udd8a \\ud800 \u0001', n: 1 };
  const collectionId = await collection({ metadata });
  assert.deepEqual((await call('GET', `/v1/collections/${collectionId}`)).body.data.metadata, expected);
  const url = `/v1/collections/${collectionId}/chunks`;
  const created = await call('POST', url, { content: 'Foxes are small.', metadata });
  assert.deepEqual(created.body.data.metadata, expected);
  const changed = await call('POST', `${url}/${created.body.data.chunk_id}`, { metadata });
  assert.deepEqual(changed.body.data.metadata, expected);
  const { record_id } = await record(collectionId, { content: 'Bears.', metadata: { a: '\ud800' } });
  const path = `/v1/collections/${collectionId}/records/${record_id}`;
  assert.deepEqual((await call('GET', path)).body.data.metadata, { a: '\ufffd' });
  const updated = await call('POST', path, { metadata: { b: '\udfff' } });
  assert.deepEqual(updated.body.data.metadata, { b: '\ufffd' });
});

test('chunks of a record can be deleted one by one, and its count follows', async (t) => {
  const { call, record, collectionId } = await openTestCollection(t);
  const created = await record(collectionId, {
    content: 'a|b',
    text_splitter: { type: 'separator', separators: ['|'] },
  });
  const [chunk] = (await call('GET', `/v1/collections/${collectionId}/chunks`)).body.data;
  const counts = async () => {
    const lists = [`/v1/collections/${collectionId}`, `/v1/collections/${collectionId}/records/${created.record_id}`];
    const answers = await Promise.all(lists.map((of) => call('GET', `${of}/chunks?limit=1&count=true`)));
    return answers.map(({ body }) => [body.total_count, body.total_count_is_exact]);
  };
  assert.deepEqual(await counts(), Array(2).fill([2, true]));
  await call('POST', `/v1/collections/${collectionId}/chunks`, { content: 'c' });
  await call('DELETE', `/v1/collections/${collectionId}/chunks/${chunk.chunk_id}`, {});
  assert.deepEqual(
    await counts(),
    [2, 1].map((count) => [count, true]),
  );
  assert.equal(
    (await call('GET', `/v1/collections/${collectionId}/records/${created.record_id}`)).body.data.num_chunks,
    1,
  );
  assert.equal((await call('GET', `/v1/collections/${collectionId}`)).body.data.num_chunks, 2);
});

test('the chunks of a record that were changed are listed and counted, until it is processed again', async (t) => {
  const { call, record, settled, collectionId } = await openTestCollection(t);
  const source = { content: 'a|b|c', text_splitter: { type: 'separator', separators: ['|'] } };
  const { record_id: id } = await record(collectionId, source);
  const all = `/v1/collections/${collectionId}/records/${id}`;
  const edited = async (query = '') => {
    const { data, total_count } = (await call('GET', `${all}/chunks?edited=true&count=true${query}`)).body;
    return [data.map(({ content }: { content: string }) => content), total_count];
  };
  assert.deepEqual(await edited(), [[], 0]);
  const { data } = (await call('GET', `${all}/chunks?order=asc`)).body;
  for (const [at, content] of [
    [0, 'x'],
    [2, 'z'],
  ] as const)
    await call('POST', `/v1/collections/${collectionId}/chunks/${data[at].chunk_id}`, { content });
  assert.deepEqual(await edited('&order=asc'), [['x', 'z'], 2]);
  assert.deepEqual(await edited('&limit=1'), [['z'], 2]);
  assert.equal((await call('GET', `${all.slice(0, -1)}0/chunks?edited=true`)).status, 404);
  await call('POST', `${all}/retry`, {});
  await settled(collectionId, id);
  assert.deepEqual(await edited(), [[], 0]);
});

test('a chunk without text is refused', async (t) => {
  const { call, collection } = (await openTestService(t)).createProject();
  const url = `/v1/collections/${await collection()}/chunks`;
  for (const content of ['', ' \n\t', null, 5, 'a\0b', 'x'.repeat(65_536)]) {
    const { status, body } = await call('POST', url, { content });
    assert.deepEqual(
      [status, body.error?.code],
      [422, 'REQUEST_VALIDATION_ERROR'],
      JSON.stringify(content)?.slice(0, 20),
    );
  }
});

const languages = {
  English: {
    chunks: [
      'Foxes live in forests and eat mice.',
      'Bears sleep through the winter.',
      'Whales are the largest animals in the sea.',
    ],
    queries: ['what do FOXES eat?', 'winter sleep', 'largest sea animal'],
  },
  Chinese: {
    chunks: ['狐狸住在森林里，吃老鼠。', '熊整个冬天都在睡觉。', '鲸鱼是海里最大的动物。'],
    queries: ['森林里的狐狸吃什么', '冬天睡觉', '最大的动物是什么'],
  },
  Arabic: {
    chunks: [
      'تعيش الثعالب في الغابات وتأكل الفئران.',
      'تنام الدببة طوال فصل الشتاء.',
      'الحيتان أكبر الحيوانات في البحر.',
    ],
    queries: ['ماذا تأكل الثعالب', 'فصل الشتاء', 'أكبر الحيوانات'],
  },
};
for (const [language, { chunks, queries }] of Object.entries(languages)) {
  test(`a question in ${language} finds the chunk that answers it first, with a score from 0 to 1`, async (t) => {
    const { call, collection } = (await openTestService(t)).createProject();
    const url = `/v1/collections/${await collection()}/chunks`;
    for (const content of chunks) await call('POST', url, { content });
    for (const [index, query_text] of queries.entries()) {
      const { status, body } = await call('POST', `${url}/query`, { query_text });
      assert.equal(status, 200);
      assert.equal(body.data[0].content, chunks[index], query_text);
      const scores = body.data.map((chunk: { score: number }) => chunk.score);
      assert.deepEqual(
        scores,
        [...scores].sort((a: number, b: number) => b - a),
      );
      assert.ok(
        scores.every((score: number) => score > 0 && score <= 1),
        String(scores),
      );
    }
  });
}

test('a response has at most top_k chunks, ten by default', async (t) => {
  const { call, collection } = (await openTestService(t)).createProject();
  const url = `/v1/collections/${await collection()}/chunks`;
  for (let n = 0; n < 12; n++) await call('POST', url, { content: `fox number ${n}` });
  for (let n = 0; n < 8; n++) await call('POST', url, { content: `something else ${n}` });
  const counts = async (body: object) => (await call('POST', `${url}/query`, { query_text: 'fox', ...body })).body;
  const { data, ...rest } = await counts({
    top_k: null,
    max_tokens: null,
    score_threshold: null,
    rerank_model_id: null,
  });
  const list = { status: 'success', fetched_count: 10, total_count: null, has_more: true };
  const how = { ranking: 'words', ranking_reason: 'no_embedder', reranking: 'off' };
  assert.deepEqual(rest, {
    ...list,
    good_match: matchScore(data.map(({ score }: { score: number }) => score)) >= goodScore,
    ...how,
  });
  assert.equal(data.length, 10);
  assert.equal((await counts({ top_k: 5 })).fetched_count, 5);
  assert.equal((await counts({ top_k: 20 })).fetched_count, 12);
});

test('an answer tells whether its best chunk reaches the threshold of the question', async (t) => {
  const { call, collectionId } = await openTestCollection(t);
  const url = `/v1/collections/${collectionId}/chunks`;
  for (const content of ['red fox and red fox', 'red hare', 'grey wolf', 'green frog'])
    await call('POST', url, { content });
  const ask = async (query_text: string, score_threshold?: number) =>
    (await call('POST', `${url}/query`, { query_text, score_threshold })).body;
  const good = await ask('red fox');
  assert.ok(good.data[0].score >= goodScore);
  assert.equal(good.good_match, true);
  const poor = await ask('Which hare owns a submarine or a telescope or a rocket?');
  assert.ok(poor.data[0].score < goodScore);
  assert.deepEqual([poor.good_match, poor.fetched_count > 0], [false, true], 'it still returns the chunks');
  assert.deepEqual([(await ask('submarine')).good_match, (await ask('red fox', 1)).good_match], [false, false]);
  assert.deepEqual((await ask('red fox', 1)).data, [], 'chunks below the threshold are omitted');
  assert.equal((await ask('Which hare owns a submarine?', poor.data[0].score / 2)).good_match, true);
  const together = await call('POST', '/v1/chunks/query', { collection_ids: [collectionId], query_text: 'red fox' });
  assert.equal(together.body.good_match, true);
});

test('a collection with one chunk has good matches, and a stop word alone is none', async (t) => {
  const { call, collection } = (await openTestService(t)).createProject();
  const url = `/v1/collections/${await collection()}/chunks`;
  await call('POST', url, {
    content:
      'Our office is open from nine to five. The car park closes at eight in the evening. Visitors register at the reception.',
  });
  const isGood = async (query_text: string) => (await call('POST', `${url}/query`, { query_text })).body.good_match;
  assert.equal(await isGood('When does the car park close?'), true);
  assert.equal(await isGood('car park'), true);
  for (const other of ['How much is the fish?', 'Who is the president of France?', 'the'])
    assert.equal(await isGood(other), false, other);
});

test('a question that exceeds the limits is refused, and one without words finds nothing', async (t) => {
  const { call, collection } = (await openTestService(t)).createProject();
  const url = `/v1/collections/${await collection()}/chunks`;
  await call('POST', url, { content: 'fox' });
  const bad = [
    {},
    { query_text: '' },
    { query_text: 'x'.repeat(32_769) },
    { query_text: 'x', top_k: 0 },
    { query_text: 'x', top_k: 101 },
    { query_text: 'x', after: '' },
    { query_text: 'x', after: 'x'.repeat(51) },
    { query_text: 'x', max_tokens: 0 },
    { query_text: 'x', score_threshold: 1.1 },
  ];
  for (const body of bad)
    assert.equal((await call('POST', `${url}/query`, body)).status, 422, JSON.stringify(body).slice(0, 50));
  for (const query_text of ['?!', ' ', '\0', '"fox', 'fox OR (', '\ud800', 'x'.repeat(32_768), '𝒳 '.repeat(1000)]) {
    assert.equal(
      (await call('POST', `${url}/query`, { query_text })).status,
      200,
      JSON.stringify(query_text).slice(0, 20),
    );
  }
});

test('a question-answer pair is changed by its question and answer, and a passage by its content', async (t) => {
  const { files, projectId, call, record, collectionId } = await openTestCollection(t, {}, { type: 'qa' });
  const file_id = files.add(projectId, 'qa_record_file', 'faq.csv', 'question,answer,tags\nWhy a fox?,Because.,red\n');
  const sheet = { type: 'qa_sheet', file_id, on_duplicate: 'skip' };
  await record(collectionId, sheet);
  const url = `/v1/collections/${collectionId}/chunks`;
  const [pair] = (await call('GET', url)).body.data;
  const change = (body: object) => call('POST', `${url}/${pair.chunk_id}`, body);
  const found = async (query_text: string) => (await call('POST', `${url}/query`, { query_text })).body.fetched_count;

  const { body } = await change({ answer: ' Otters swim. ' });
  assert.deepEqual(
    [body.data.question, body.data.answer, body.data.content, body.data.locator, body.data.metadata],
    ['Why a fox?', 'Otters swim.', 'Why a fox?\n\nOtters swim.', pair.locator, pair.metadata],
  );
  assert.deepEqual((await call('GET', `${url}/${pair.chunk_id}`)).body.data, body.data);
  assert.deepEqual([await found('because'), await found('otters')], [0, 1]);
  assert.equal((await change({ question: 'Why a bear?' })).body.data.answer, 'Otters swim.');
  assert.deepEqual([await found('fox'), await found('bear'), await found('swim')], [0, 1, 1]);
  // The row of the sheet is still the same one.
  assert.equal((await record(collectionId, sheet)).num_chunks, 0);

  const long = 'x'.repeat(65_535);
  for (const bad of [{ content: 'x' }, { question: ' ' }, { answer: '\n' }, { answer: 'a\0b' }, { answer: long }]) {
    assert.equal((await change(bad)).status, 422, JSON.stringify(bad).slice(0, 30));
  }
  const passages = (await openTestCollection(t)).call;
  const direct = `/v1/collections/${(await passages('POST', '/v1/collections', { name: 'a' })).body.data.collection_id}/chunks`;
  const { chunk_id } = (await passages('POST', direct, { content: 'Foxes.' })).body.data;
  const refused = await passages('POST', `${direct}/${chunk_id}`, { answer: 'Bears.' });
  assert.deepEqual([refused.status, /send `content`/.test(refused.body.error.message)], [422, true]);
});

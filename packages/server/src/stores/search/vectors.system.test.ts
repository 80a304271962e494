import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { sql } from 'kysely';
import { until } from '../../platform/testing/until.ts';
import type { TestCollectionsOptions } from '../collections/testing/test-collections.suite.ts';
import {
  createTestFiles,
  openTestCollections,
  openTestDatabase,
  openTestService,
} from '../collections/testing/test-collections.suite.ts';
import { type Embedder, EmbedderUnavailable } from './embedding/embedder.ts';
import { toModelId } from './embedding/embedders.ts';
import { createScriptedEmbedder } from './testing/scripted-embedder.suite.ts';

async function openVectors(t: TestContext, options: TestCollectionsOptions) {
  const service = await openTestService(t, options);
  const project = service.createProject();
  const collectionId = await project.collection({});
  const path = `/v1/collections/${collectionId}`;
  return {
    ...service,
    close: service.services.close,
    ...project,
    collectionId,
    path,
    state: async () => {
      const { vectors, embedding_size } = (await project.call('GET', path)).body.data;
      return [vectors, embedding_size];
    },
    /** Returns what the API says about the vectors of the collection, and checks the sum of the counts. */
    embedding: async () => {
      const { embedding, num_chunks } = (await project.call('GET', path)).body.data;
      const { num_embedded, num_pending, num_refused } = embedding;
      assert.equal(num_embedded + num_pending + num_refused, num_chunks);
      return embedding;
    },
    /** Returns the vectors of the record as the API describes them now. */
    embeddingOf: async (recordId: string) => {
      const { embedding, report } = (await project.call('GET', `${path}/records/${recordId}`)).body.data;
      const { model, num_embedded: chunks, num_pending: pending, num_refused: refused, reason } = embedding;
      assert.deepEqual(report.embedding, { model, chunks, pending, refused });
      return { model, chunks, pending, refused, reason };
    },
    find: async (query_text: string, more: object = {}) => {
      const answer = await project.call('POST', `${path}/chunks/query`, { query_text, explain: true, ...more });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.data;
    },
  };
}

const contentOf = (found: ReadonlyArray<{ content: string }>) => found.map(({ content }) => content);

test('a record is ready before its vectors exist, and a misspelt question then finds what its words alone do not', async (t) => {
  const { collectionId, record, find, state, embeddingOf } = await openVectors(t, {
    embedder: createScriptedEmbedder('scripted', 256),
  });
  const created = await record(collectionId, { content: 'The embarrassing questionnaire was withdrawn.' });
  await record(collectionId, { content: 'A green mountain lake.' });
  assert.equal(created.status, 'ready');
  await until(async () => (await state())[0] === 'current');
  assert.deepEqual(await embeddingOf(created.record_id), {
    ...{ model: 'scripted', chunks: 1, pending: 0, refused: 0 },
    reason: null,
  });
  const [best] = await find('embarassing questionaire');
  assert.equal(best.content, 'The embarrassing questionnaire was withdrawn.');
  assert.deepEqual([best.explanation.words, best.explanation.vector.rank], [null, 1]);
  assert.deepEqual(await state(), ['current', 256]);
});

test('a record does not wait for an embedder that never answers, and closing the service does not wait for it either', async (t) => {
  const embedder = createScriptedEmbedder();
  const silent: Embedder['embed'] = (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const { collectionId, record, find } = await openVectors(t, { embedder: { ...embedder, embed: silent } });
  for (let n = 1; n <= 5; n++) {
    const { status, embedding } = await record(collectionId, { content: `Green tea number ${n}.` });
    assert.deepEqual([status, embedding.num_pending], ['ready', 1]);
  }
  assert.equal((await find('green tea', { top_k: 5 })).length, 5);
});

test('texts of many records share the requests to the embedder, and equal texts are sent once', async (t) => {
  const embedder = { ...createScriptedEmbedder(), batchSize: 32, lanes: 1 };
  const [held, calls] = [Promise.withResolvers<void>(), [] as number[]];
  const embed: Embedder['embed'] = async (texts, signal) => {
    calls.push(texts.length);
    if (calls.length === 1) await held.promise;
    return embedder.embed(texts, signal);
  };
  const { collectionId, record, state } = await openVectors(t, { embedder: { ...embedder, embed } });
  await record(collectionId, { content: 'The first text.' });
  await until(async () => calls.length === 1);
  for (let n = 0; n < 20; n++) await record(collectionId, { content: `Text number ${n % 10}.` });
  held.resolve();
  await until(async () => (await state())[0] === 'current');
  assert.deepEqual(calls, [1, 10]);
});

test('a small collection of another project is embedded before a large one', async (t) => {
  const embedder = createScriptedEmbedder();
  const waiting: Array<() => void> = [];
  let isOpen = false;
  const embed: Embedder['embed'] = async (texts, signal) => {
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
    return embedder.embed(texts, signal);
  };
  const service = await openVectors(t, { embedder: { ...embedder, embed } });
  const text_splitter = { type: 'token', chunk_size: 50, chunk_overlap: 0 };
  const content = Array.from({ length: 600 }, (_, n) => `sentence number ${n}.`).join(' ');
  const large = await service.record(service.collectionId, { content, text_splitter });
  assert.ok(large.num_chunks >= 40, String(large.num_chunks));
  const other = service.createProject();
  const small = await other.collection({});
  await other.record(small, { content: 'One short text.' });
  for (let calls = 0; !embedder.texts.includes('One short text.'); calls++) {
    // Two slices of the large collection, each of two calls, may come first.
    assert.ok(calls <= 4, `${embedder.texts.length} texts of the large collection came first`);
    await until(async () => waiting.length > 0);
    waiting.shift()?.();
    await new Promise(setImmediate);
  }
  isOpen = true;
  for (const resume of waiting) resume();
  await until(async () => (await service.state())[0] === 'current');
});

test('an embedder that fails does not fail the record: its words are found, and its vectors follow later', async (t) => {
  const embedder = createScriptedEmbedder();
  embedder.fail('The embedding service answered with status 503');
  const { collectionId, record, find, state } = await openVectors(t, { embedder });
  const created = await record(collectionId, { content: 'Green tea from Uji.' });
  assert.deepEqual([created.status, created.report.embedding.pending], ['ready', 1]);
  assert.deepEqual(await state(), ['catching_up', 0]);
  const [byWords] = await find('green tea');
  assert.deepEqual([byWords.content, byWords.explanation.vector], ['Green tea from Uji.', null]);
  embedder.fail(null);
  await until(async () => (await state())[0] === 'current');
  assert.deepEqual(embedder.texts, ['Green tea from Uji.']);
});

test('directly created or changed chunks get vectors', async (t) => {
  const embedder = createScriptedEmbedder();
  const { path, call, find, state } = await openVectors(t, { embedder });
  const { body } = await call('POST', `${path}/chunks`, { content: 'black tea' });
  await until(async () => embedder.texts.length === 1 && (await state())[0] === 'current');
  await call('POST', `${path}/chunks/${body.data.chunk_id}`, { content: 'white coffee' });
  await until(async () => embedder.texts.length === 2 && (await state())[0] === 'current');
  assert.deepEqual(embedder.texts, ['black tea', 'white coffee']);
  const [best] = await find('white coffees?');
  assert.deepEqual([best.content, best.explanation.vector.rank], ['white coffee', 1]);
  assert.deepEqual(contentOf(await find('black')), ['white coffee'], 'by its new vector, as the only chunk there is');
});

test('a collection counts its embedded, pending and refused chunks, and the tokens that were paid', async (t) => {
  const scripted = createScriptedEmbedder();
  const owners = new Set<string | null | undefined>();
  const embed: Embedder['embed'] = async (texts, signal, call) => {
    owners.add(call?.owner?.projectId);
    const vectors = await scripted.embed(texts, signal);
    call?.onTokens?.(10 * texts.length);
    return vectors;
  };
  const opened = await openVectors(t, { embedder: { ...scripted, embed } });
  const { projectId, collectionId, record, embedding, path, call } = opened;
  const none = { num_embedded: 0, num_pending: 0, num_refused: 0, num_tokens: 0, last_error: null };
  assert.deepEqual(await embedding(), {
    ...{ model: 'scripted', dimensions: null, configured_dimensions: null },
    ...none,
  });
  scripted.fail('The embedding service answered with status 503');
  const first = await record(collectionId, { content: 'a welcome text' });
  await record(collectionId, { content: 'a refused text' });
  await until(async () => (await embedding()).last_error !== null);
  const { last_error, num_pending } = await embedding();
  assert.deepEqual([last_error.reason, num_pending], ['The embedding service answered with status 503', 2]);
  assert.ok(last_error.next_attempt_timestamp > last_error.timestamp);
  scripted.fail(null);
  await until(async () => (await embedding()).num_pending === 0);
  await until(async () => (await embedding()).last_error?.next_attempt_timestamp === null);
  const { last_error: refusal, ...counts } = await embedding();
  assert.deepEqual(counts, {
    ...{
      model: 'scripted',
      dimensions: 64,
      configured_dimensions: 64,
      num_embedded: 1,
      num_pending: 0,
      num_refused: 1,
      num_tokens: 20,
    },
  });
  assert.deepEqual([refusal.reason, refusal.next_attempt_timestamp], ['The model refuses the text.', null]);
  const ofRecord = (await call('GET', `${path}/records/${first.record_id}`)).body.data.embedding;
  assert.equal(ofRecord.num_tokens, 20);
  assert.deepEqual([...owners], [projectId]);
  const [listed] = (await call('GET', '/v1/collections')).body.data;
  assert.deepEqual(listed.embedding, await embedding());
  await call('DELETE', `${path}/records/${first.record_id}`);
  await until(async () => (await embedding()).num_embedded === 0);
});

test('a text that the service fails to process waits for its next attempt, and the others get vectors', async (t) => {
  const database = await openTestDatabase(t);
  const scripted = createScriptedEmbedder();
  let isBroken = true;
  const failure = { reason: 'The embedding service answered with status 500', isRefused: false };
  const embed: Embedder['embed'] = async (texts, signal) =>
    Promise.all(
      texts.map(async (text) => {
        if (isBroken && text.includes('NaN')) return failure;
        const [embedded] = await scripted.embed([text], signal);
        return embedded ?? failure;
      }),
    );
  const service = await openVectors(t, { database, embedder: { ...scripted, embed } });
  const { collectionId, record, state, embeddingOf } = service;
  const created = await record(collectionId, { content: 'a text with NaN' });
  await record(collectionId, { content: 'a welcome text' });
  await until(async () => (await state())[0] === 'current');
  assert.deepEqual(await embeddingOf(created.record_id), {
    ...{ model: 'scripted', chunks: 0, pending: 1, refused: 0 },
    reason: failure.reason,
  });
  const stored = async () =>
    (await database.read.selectFrom('chunk_vector').select(['reason', 'failures']).orderBy('seq').execute()).map(
      ({ reason, failures }) => [reason, failures],
    );
  assert.deepEqual(await stored(), [
    [failure.reason, 1],
    [null, 0],
  ]);
  isBroken = false;
  await sql`update chunk_vector set retry_at = 0 where retry_at is not null`.execute(database.write);
  await until(async () => (await stored()).every(([reason]) => reason === null));
});

test('changed dimensions do not fail a record, are reported with both numbers, and are paid for a short text only', async (t) => {
  const database = await openTestDatabase(t);
  const files = createTestFiles();
  const first = await openVectors(t, { database, files, embedder: createScriptedEmbedder('same', 64) });
  await first.record(first.collectionId, { content: 'Green tea from Uji.' });
  await until(async () => (await first.state())[1] === 64);
  await first.close();
  const embedder = createScriptedEmbedder('same', 48);
  const service = await openTestService(t, { database, files, embedder });
  const { record, call } = service.createProject(first.projectId);
  const created = await record(first.collectionId, { content: 'Black tea from Assam.' });
  assert.deepEqual([created.status, created.report.embedding.pending], ['ready', 1]);
  const read = async () => (await call('GET', first.path)).body.data;
  await until(async () => (await read()).vectors === 'other_model');
  await until(async () => embedder.texts.includes('test'));
  const { embedding } = await read();
  assert.deepEqual([embedding.dimensions, embedding.configured_dimensions], [64, 48]);
  assert.match(embedding.last_error.reason, /vectors of 48 dimensions, but those of the collection have 64\. Re-embed/);
  assert.equal(embedder.texts.filter((text) => text === 'Black tea from Assam.').length, 1);
  assert.equal((await call('POST', `${first.path}/reembed`)).status, 200);
  await until(async () => (await read()).vectors === 'current');
  assert.equal((await read()).embedding.dimensions, 48);
});

test('the question of a pair is embedded, and the answer is returned', async (t) => {
  const embedder = createScriptedEmbedder();
  const { files, projectId, collection, record, call } = await openVectors(t, { embedder });
  const collectionId = await collection({ type: 'qa' });
  const file_id = files.add(projectId, 'qa_record_file', 'a.csv', 'question,answer\nHow hot?,Seventy degrees\n');
  assert.equal((await record(collectionId, { type: 'qa_sheet', file_id })).status, 'ready');
  await until(async () => embedder.texts.length > 0);
  assert.deepEqual(embedder.texts, ['How hot?']);
  const { body } = await call('POST', `/v1/collections/${collectionId}/chunks/query`, { query_text: 'how hot' });
  assert.equal(body.data[0].answer, 'Seventy degrees');
});

test('interrupted embedding continues where it stopped, and nothing is embedded twice', async (t) => {
  const database = await openTestDatabase(t);
  const files = createTestFiles();
  const embedder = createScriptedEmbedder();
  const { path, call, close } = await openVectors(t, { database, files, embedder });
  embedder.fail('down', 8);
  const text_splitter = { type: 'token', chunk_size: 50, chunk_overlap: 0 };
  const content = Array.from({ length: 300 }, (_, n) => `sentence number ${n}.`).join(' ');
  const { body } = await call('POST', `${path}/records`, { content, text_splitter });
  const recordPath = `${path}/records/${body.data.record_id}`;
  await until(async () => (await call('GET', recordPath)).body.data.status === 'ready' && embedder.texts.length === 8);
  await close();
  const later = createScriptedEmbedder();
  openTestCollections(t, database, { files, embedder: later });
  const numChunks = (await call('GET', recordPath)).body.data.num_chunks;
  const count = async () => (await database.read.selectFrom('chunk_vector').select('seq').execute()).length;
  await until(async () => (await count()) === numChunks);
  assert.equal(embedder.texts.length + later.texts.length, numChunks);
  assert.ok(embedder.texts.length > 0 && later.texts.length > 0);
});

test('a former model that is still configured searches and embeds its collections, and the first model the new ones', async (t) => {
  const database = await openTestDatabase(t);
  const files = createTestFiles();
  const first = await openVectors(t, { database, files, embedder: createScriptedEmbedder('one', 64) });
  await first.record(first.collectionId, { content: 'Green tea from Uji.' });
  await until(async () => (await first.state())[0] === 'current');
  await first.close();

  const [former, embedder] = [createScriptedEmbedder('one', 64), createScriptedEmbedder('two', 128)];
  const service = await openTestService(t, { database, files, embedder, furtherEmbedders: [former] });
  const { call, record, collection } = service.createProject(first.projectId);
  const stateOf = async (id: string) => (await call('GET', `/v1/collections/${id}`)).body.data;
  const created = await record(first.collectionId, { content: 'Black tea from Assam.' });
  assert.equal(created.embedding.model, 'one');
  await until(async () => former.texts.length === 1 && (await stateOf(first.collectionId)).vectors === 'current');
  const { body } = await call('POST', `${first.path}/chunks/query`, { query_text: 'green teas' });
  assert.deepEqual([body.ranking, embedder.texts], ['fused', []]);

  const other = await collection({});
  await record(other, { content: 'Coffee from Jimma.' });
  await until(async () => (await stateOf(other)).embedding_size === 128);
  assert.deepEqual(embedder.texts, ['Coffee from Jimma.']);
});

test('vectors of another model are built while the former ones answer, and the way back costs nothing', async (t) => {
  const database = await openTestDatabase(t);
  const files = createTestFiles();
  const first = await openVectors(t, { database, files, embedder: createScriptedEmbedder('one', 64) });
  for (const content of ['Green tea from Uji.', 'Black tea from Assam.', 'Coffee from Jimma.']) {
    await first.record(first.collectionId, { content });
  }
  await until(async () => (await first.state())[0] === 'current');
  assert.equal((await first.call('POST', `${first.path}/chunks/query`, { query_text: 'tea' })).body.ranking, 'fused');
  await first.close();

  const [former, embedder] = [createScriptedEmbedder('one', 64), createScriptedEmbedder('two', 128)];
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const embed: Embedder['embed'] = async (texts, signal) => {
    reached.resolve();
    await go.promise;
    return embedder.embed(texts, signal);
  };
  const options = { database, files, embedder: { ...embedder, embed }, furtherEmbedders: [former] };
  const { call } = (await openTestService(t, options)).createProject(first.projectId);
  const sets = async () => (await call('GET', first.path)).body.data.vector_sets;
  const ask = async (query_text: string) =>
    (await call('POST', `${first.path}/chunks/query`, { query_text, explain: true })).body;

  const [live] = await sets();
  assert.deepEqual([live.role, live.model, live.dimensions], ['live', 'one', 64]);
  await call('POST', `${first.path}/reembed`);
  await reached.promise;
  assert.deepEqual(
    (await sets()).map(({ role, model }: { role: string; model: string }) => [role, model]),
    [
      ['live', 'one'],
      ['next', 'two'],
    ],
  );
  assert.equal((await ask('green teas')).ranking, 'fused');
  assert.deepEqual([former.texts, embedder.texts], [['green teas'], ['test']]);
  go.resolve();
  await until(async () => (await sets())[0].model === 'two');
  assert.equal((await ask('black teas')).ranking, 'fused');
  assert.equal(embedder.texts.filter((text) => text.includes('from')).length >= 3, true);
  assert.deepEqual(former.texts, ['green teas'], 'the former model is asked no more');

  const { status, body } = await call('POST', `${first.path}/reembed?embedding_model_id=${live.embedding_model_id}`);
  assert.equal(status, 200, JSON.stringify(body));
  await until(async () => (await sets())[0].model === 'one');
  assert.deepEqual(former.texts, ['green teas', 'test'], 'going back pays for the trial only');
  for (const id of ['Qm000000', 'two']) {
    const unknown = await call('POST', `${first.path}/reembed?embedding_model_id=${id}`);
    assert.equal(unknown.status, 422);
    assert.match(unknown.body.error.message, new RegExp(`${live.embedding_model_id}; received "${id}"`));
  }
});

test('missing vectors wait as long as the embedder requests', async (t) => {
  const database = await openTestDatabase(t);
  const embedder = createScriptedEmbedder();
  const delayMs = 50 * 60_000;
  const embed = () => Promise.reject(new EmbedderUnavailable('busy', delayMs));
  const { collectionId, record } = await openVectors(t, { database, embedder: { ...embedder, embed } });
  const before = Date.now();
  await record(collectionId, { content: 'Green tea from Uji.' });
  const nextAttempt = async () => {
    const rows = await sql<{ run_after: number }>`select run_after from collection_vector`.execute(database.read);
    return Number(rows.rows[0]?.run_after);
  };
  await until(async () => (await nextAttempt()) >= before + delayMs);
});

test('an estimate names the chunks, tokens and cost of an embedding, and changes nothing', async (t) => {
  const [embedder, other] = [createScriptedEmbedder('one'), createScriptedEmbedder('two')];
  const further = { furtherEmbedders: [other], priceOf: (model: string) => (model === 'two' ? 0.5 : null) };
  const { collectionId, record, state, path, call } = await openVectors(t, { embedder, ...further });
  const records = [
    await record(collectionId, { content: 'Green tea.' }),
    await record(collectionId, { content: 'Tea.' }),
  ];
  await until(async () => (await state())[0] === 'current');
  const { data } = (await call('GET', `${path}/chunks`)).body;
  const tokens = data.reduce((sum: number, { num_tokens }: { num_tokens: number }) => sum + num_tokens, 0);
  assert.equal(records.length, data.length);
  const estimate = async (model: string) => {
    const answer = await call('POST', `${path}/reembed?dry_run=true&embedding_model_id=${toModelId(model)}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data.embedding_estimate;
  };
  assert.deepEqual(await estimate('one'), { model: 'one', num_chunks: 2, num_tokens: tokens, cost: null });
  assert.deepEqual(await estimate('two'), {
    model: 'two',
    num_chunks: 2,
    num_tokens: tokens,
    cost: (tokens / 1e6) * 0.5,
  });
  assert.deepEqual([await state(), other.texts], [['current', 64], []]);
  await call('POST', `${path}/reembed?embedding_model_id=${toModelId('two')}`);
  await until(async () => other.texts.length === 3 && (await call('GET', path)).body.data.embedding.model === 'two');
  assert.equal((await estimate('one')).num_chunks, 0, 'the vectors of the first model are kept');
});

test('a model that does not work is refused before anything changes, and a building can be ended without it', async (t) => {
  const [embedder, other] = [createScriptedEmbedder('one', 64), createScriptedEmbedder('two', 64)];
  let wanted: number | null = 128;
  const dimensionsOf = (model: string) => (model === 'two' ? wanted : null);
  const service = await openVectors(t, { embedder, furtherEmbedders: [other], dimensionsOf });
  const { collectionId, record, state, path, call } = service;
  await record(collectionId, { content: 'Green tea.' });
  await until(async () => (await state())[0] === 'current');
  const before = (await call('GET', path)).body.data;
  const use = (model: string) => call('POST', `${path}/reembed?embedding_model_id=${toModelId(model)}`);
  const wrong = await use('two');
  assert.deepEqual([wrong.status, wrong.body.error.code], [502, 'PROVIDER_ERROR']);
  assert.match(wrong.body.error.message, /^The model two does not work, .*64 dimensions, but .*_DIMENSIONS is 128\.$/);
  embedder.fail('The embedding service answered with status 404 (no such model).');
  const unknown = await use('one');
  assert.equal(unknown.status, 502);
  assert.match(unknown.body.error.message, /nothing was changed\. The embedding service answered with status 404/);
  assert.deepEqual((await call('GET', path)).body.data, before);

  wanted = null;
  await call('POST', path, { embedding_paused: true });
  const setsOf = ({ status, body }: Awaited<ReturnType<typeof use>>) => {
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.vector_sets.map(({ role, model }: { role: string; model: string }) => `${role} ${model}`);
  };
  assert.deepEqual(setsOf(await use('two')), ['live one', 'next two']);
  assert.deepEqual(setsOf(await use('one')), ['live one', 'kept two'], 'although the model one still fails');
});

test('a collection that is created with the id of a model is embedded with it', async (t) => {
  const [embedder, other] = [createScriptedEmbedder('one'), createScriptedEmbedder('two')];
  const { call, record, collection } = await openVectors(t, { embedder, furtherEmbedders: [other] });
  const id = await collection({ embedding_model_id: toModelId('two') });
  await record(id, { content: 'Green tea.' });
  await until(async () => other.texts.length === 1);
  const { embedding, embedding_model_id } = (await call('GET', `/v1/collections/${id}`)).body.data;
  assert.deepEqual([embedding.model, embedding_model_id, embedder.texts], ['two', toModelId('two'), []]);
});

test('embedding pauses and continues by an update of the collection', async (t) => {
  const embedder = createScriptedEmbedder();
  const { collectionId, record, find, state, path, call } = await openVectors(t, { embedder });
  assert.equal((await call('POST', path, { embedding_paused: true })).body.data.embedding_paused, true);
  await record(collectionId, { content: 'Green tea from Uji.' });
  const second = await call('POST', '/v1/collections', { name: 'second' });
  await record(second.body.data.collection_id, { content: 'White coffee.' });
  await until(async () => embedder.texts.length === 1);
  assert.deepEqual([embedder.texts, (await state())[0]], [['White coffee.'], 'catching_up']);
  assert.equal((await find('green tea'))[0].content, 'Green tea from Uji.');
  assert.equal((await call('POST', path, { embedding_paused: false })).body.data.embedding_paused, false);
  await until(async () => (await state())[0] === 'current');
  assert.deepEqual(embedder.texts, ['White coffee.', 'Green tea from Uji.']);
});

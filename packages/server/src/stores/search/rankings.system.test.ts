import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { until } from '../../platform/testing/until.ts';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
  type TestCollectionsOptions,
} from '../collections/testing/test-collections.suite.ts';
import { createScriptedEmbedder, type ScriptedEmbedder } from './testing/scripted-embedder.suite.ts';

const texts = [
  'Green tea from Uji is picked in spring, steamed, rolled and dried in the sun.',
  'Black tea from Assam is strong, malty and drunk with milk in the morning.',
  'Coffee from Jimma is roasted over a fire and served with salt or butter.',
  'The embarrassing questionnaire was withdrawn.',
];

interface Opened {
  readonly projectId: string;
  readonly collectionId: string;
}

async function open(t: TestContext, options: TestCollectionsOptions, known?: Opened) {
  const service = await openTestService(t, options);
  const project = service.createProject(known?.projectId);
  const collectionId = known?.collectionId ?? (await project.collection({}));
  const path = `/v1/collections/${collectionId}`;
  const ask = (query_text: string, more: object = {}) =>
    project.call('POST', `${path}/chunks/query`, { query_text, explain: true, top_k: 20, ...more });
  const state = async () => (await project.call('GET', path)).body.data.vectors;
  return {
    ...project,
    collectionId,
    path,
    ask,
    state,
    ranking: async (query: string, more: object = {}) => {
      const { body } = await ask(query, more);
      return [body.ranking, body.ranking_reason];
    },
    embed: async () => {
      for (const content of texts) await project.record(collectionId, { content });
      await until(async () => (await state()) === 'current');
    },
    close: service.services.close,
  };
}

const contents = (body: { data: ReadonlyArray<{ content: string }> }) => body.data.map(({ content }) => content);

async function openEmbedded(t: TestContext, options: TestCollectionsOptions & { embedder?: ScriptedEmbedder } = {}) {
  const embedder = options.embedder ?? createScriptedEmbedder('scripted', 2048);
  const opened = await open(t, { ...options, embedder });
  await opened.embed();
  return { ...opened, embedder };
}

test('an answer names its ranking, and the mode of a question chooses it', async (t) => {
  const { ask, ranking } = await openEmbedded(t);
  assert.deepEqual(await ranking('green tea'), ['fused', null]);
  assert.deepEqual(await ranking('green tea', { mode: 'fused' }), ['fused', null]);
  assert.deepEqual(await ranking('green tea', { mode: 'vectors' }), ['vectors', null]);
  assert.deepEqual(await ranking('green tea', { mode: 'words' }), ['words', 'requested']);
  const byVectors = (await ask('embarassing questionaire', { mode: 'vectors' })).body;
  assert.equal(contents(byVectors)[0], texts[3]);
  const similarities = byVectors.data.map(
    ({ explanation }: { explanation: { vector: { similarity: number } } }) => explanation.vector.similarity,
  );
  assert.deepEqual(
    similarities,
    similarities.toSorted((a: number, b: number) => b - a),
  );
  assert.deepEqual((await ask('embarassing questionaire', { mode: 'words' })).body.data, []);
});

test('a minimum similarity excludes what only vectors find', async (t) => {
  const { ask } = await openEmbedded(t);
  const found = contents((await ask('tea from Assam', { min_similarity: 0.99 })).body);
  assert.deepEqual(found.toSorted(), [texts[0], texts[1], texts[2]].toSorted(), 'found by words');
  assert.deepEqual((await ask('tea from Assam', { min_similarity: 0.99, mode: 'vectors' })).body.data, []);
  assert.equal((await ask('tea from Assam', { min_similarity: -1, mode: 'vectors' })).body.data.length, 4);
});

test('weights choose between the rankings, and equal ones score alike whatever their sum', async (t) => {
  const { ask } = await openEmbedded(t);
  const scores = async (weights: object) =>
    (await ask('embarassing questionaire tea', { weights })).body.data.map(({ score }: { score: number }) => score);
  assert.deepEqual(await scores({ words: 0.5, vectors: 0.5 }), await scores({ words: 1, vectors: 1 }));
  const { data } = (await ask('embarassing questionaire tea', { weights: { words: 0, vectors: 1 } })).body;
  const similarities = data.map(
    ({ explanation }: { explanation: { vector: { similarity: number } } }) => explanation.vector.similarity,
  );
  assert.deepEqual(
    similarities,
    similarities.toSorted((a: number, b: number) => b - a),
  );
  assert.ok(data[0].score <= 0.4);
});

test('a collection sets defaults, which a question overrides', async (t) => {
  const { call, path, ask, ranking } = await openEmbedded(t);
  const set = async (retrieval: object) => {
    const { status, body } = await call('POST', path, { retrieval });
    assert.deepEqual([status, body.data?.retrieval], [200, retrieval]);
  };
  assert.deepEqual((await call('GET', path)).body.data.retrieval, {});
  await set({ mode: 'words' });
  assert.deepEqual((await call('GET', path)).body.data.retrieval, { mode: 'words' });
  assert.deepEqual(await ranking('green tea'), ['words', 'requested']);
  assert.deepEqual(await ranking('green tea', { mode: 'fused' }), ['fused', null]);
  await set({ mode: 'vectors', min_similarity: 0.99 });
  assert.deepEqual((await ask('green tea')).body.data, []);
  assert.equal((await ask('green tea', { min_similarity: -1 })).body.data.length, 4);
  await set({ weights: { words: 0, vectors: 1 } });
  const byDefault = (await ask('green tea')).body.data;
  assert.deepEqual(byDefault, (await ask('green tea', { weights: { words: 0, vectors: 0.5 } })).body.data);
  await set({});
  assert.notDeepEqual((await ask('green tea')).body.data, byDefault);
});

for (const retrieval of [
  { modes: 'words' },
  { mode: 'all' },
  { min_similarity: 2 },
  { weights: { words: 0, vectors: 0 } },
]) {
  test(`a collection with the defaults ${JSON.stringify(retrieval)} is refused with 422`, async (t) => {
    const { call, path } = await open(t, {});
    assert.equal((await call('POST', path, { retrieval })).status, 422);
    assert.equal((await call('POST', '/v1/collections', { retrieval })).status, 422);
  });
}

for (const [why, member] of [
  ['an unknown mode', { mode: 'magic' }],
  ['an unknown member of weights', { weights: { words: 1, vectors: 1, pictures: 1 } }],
  ['a missing weight', { weights: { words: 1 } }],
  ['a weight above 1', { weights: { words: 1.1, vectors: 0 } }],
  ['two weights of 0', { weights: { words: 0, vectors: 0 } }],
  ['a similarity below -1', { min_similarity: -1.01 }],
] as const) {
  test(`a question with ${why} is refused with 422`, async (t) => {
    const { ask } = await open(t, {});
    assert.equal((await ask('tea', member)).status, 422);
  });
}

test('the answer says why words alone answered', async (t) => {
  const database = await openTestDatabase(t);
  const files = createTestFiles();
  const first = await openEmbedded(t, { database, files });
  first.embedder.fail('down');
  assert.deepEqual(await first.ranking('another question'), ['words', 'provider_unavailable']);
  await first.close();

  const without = await open(t, { database, files }, first);
  assert.deepEqual(await without.ranking('green tea'), ['words', 'no_embedder']);
  assert.deepEqual(await without.ranking('green tea', { mode: 'vectors' }), ['words', 'no_embedder']);
  assert.deepEqual(await without.ranking('green tea', { mode: 'words' }), ['words', 'requested']);
  await without.close();

  const other = await open(t, { database, files, embedder: createScriptedEmbedder('other', 64) }, first);
  assert.deepEqual(await other.ranking('green tea'), ['words', 'other_model']);
  await other.close();

  const shorter = await open(t, { database, files, embedder: createScriptedEmbedder('scripted', 64) }, first);
  await sql`delete from similarity_scale`.execute(database.write);
  await until(async () => (await shorter.ranking('green tea'))[1] !== 'collection_not_embedded');
  assert.deepEqual(await shorter.ranking('green tea'), ['words', 'other_dimensions']);
});

test('a collection that was never embedded completely is answered by words', async (t) => {
  const embedder = createScriptedEmbedder('scripted', 2048);
  embedder.fail('down', 2);
  const { record, collectionId, ranking, state, ask } = await open(t, { embedder });
  for (const content of texts) await record(collectionId, { content });
  assert.equal(await state(), 'catching_up');
  assert.deepEqual(await ranking('green tea'), ['words', 'collection_not_embedded']);
  const answer = (await ask('green tea')).body;
  embedder.fail(null);
  await until(async () => (await state()) === 'current');
  const byWords = (await ask('green tea', { mode: 'words' })).body;
  assert.deepEqual(answer.data, byWords.data);
  assert.deepEqual(await ranking('green tea'), ['fused', null]);
});

test('chunks that lose their vectors, or get none, are ranked by their words and the others by both', async (t) => {
  const database = await openTestDatabase(t);
  const { ask, record, collectionId, ranking, state } = await openEmbedded(t, { database });
  assert.deepEqual(await ranking('green tea'), ['fused', null]);
  await record(collectionId, { content: 'Green tea of the house, refused by nobody.' });
  await until(async () => (await state()) === 'current');
  await sql`delete from chunk_vector where seq = (select seq from chunk where content = ${texts[1]})`.execute(
    database.write,
  );
  const { body } = await ask('green tea');
  assert.equal(body.ranking, 'fused');
  const byWords = (await ask('green tea', { mode: 'words' })).body.data;
  const scoreByWords = new Map(
    byWords.map((chunk: { content: string; score: number }) => [chunk.content, chunk.score]),
  );
  const without = body.data.filter(
    ({ explanation }: { explanation: { vector: unknown } }) => explanation.vector === null,
  );
  assert.deepEqual(contents({ data: without }).toSorted(), [texts[1], 'Green tea of the house, refused by nobody.']);
  for (const { content, score } of without) assert.equal(score, scoreByWords.get(content));
});

for (const openDatabase of [openTestDatabase, openTestPostgres]) {
  test(`a scale is measured once and stored in ${openDatabase === openTestDatabase ? 'SQLite' : 'PostgreSQL'}`, async (t) => {
    const database = await openDatabase(t);
    const files = createTestFiles();
    const first = await openEmbedded(t, { database, files });
    const before = first.embedder.texts.length;
    const scores = (await first.ask('green tea')).body.data;
    const probes = first.embedder.texts.slice(before);
    assert.equal(probes.length, 5, 'four probes and the question');
    assert.ok(probes.slice(0, 4).every((probe) => texts.some((text) => text.includes(probe))));
    const rows = await database.read.selectFrom('similarity_scale').selectAll().execute();
    assert.equal(rows.length, 1);
    const [{ unrelated = 1, related = 0, weight = 0, share = 0 } = {}] = rows;
    assert.ok(related > unrelated + 0.2, `${related} ${unrelated}`);
    assert.deepEqual([weight, share], [1, 1]);
    await first.close();

    const embedder = createScriptedEmbedder('scripted', 2048);
    const second = await open(t, { database, files, embedder }, first);
    assert.deepEqual((await second.ask('green tea')).body.data, scores);
    assert.deepEqual(embedder.texts, ['green tea']);
    await second.call('DELETE', second.path);
    await until(
      async () => (await database.read.selectFrom('similarity_scale').select('model').execute()).length === 0,
    );
  });
}

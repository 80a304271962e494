import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../platform/testing/until.ts';
import {
  createTestFiles,
  openTestDatabase,
  openTestPostgres,
  openTestService,
} from '../collections/testing/test-collections.suite.ts';
import { createScriptedEmbedder } from './testing/scripted-embedder.suite.ts';

type Call = ReturnType<Awaited<ReturnType<typeof openTestService>>['createProject']>['call'];

const isCurrent = (call: Call, collectionId: string) =>
  until(async () => (await call('GET', `/v1/collections/${collectionId}`)).body.data.vectors === 'current');

/** Passages of different lengths, so that all vectors differ. */
const passages = Array.from({ length: 20 }, (_, n) => `Passage ${n} is about ${'tea '.repeat(n + 1)}from Uji.`);
const document = { content: passages.join('\n\n'), text_splitter: { type: 'token', chunk_size: 60, chunk_overlap: 0 } };

for (const [name, openDatabase] of Object.entries({ SQLite: openTestDatabase, PostgreSQL: openTestPostgres })) {
  test(`a text is paid once for each model and project, in all records, collections and starts, in ${name}`, async (t) => {
    const database = await openDatabase(t);
    const files = createTestFiles();
    const embedder = createScriptedEmbedder('one', 64);
    const first = await openTestService(t, { database, files, embedder });
    const { projectId, call, collection, record } = first.createProject();
    const [tea, other] = [await collection(), await collection()];
    const created = await record(tea, document);
    await isCurrent(call, tea);
    const paid = embedder.texts.length;
    assert.ok(paid > 2 && paid === new Set(embedder.texts).size, `${paid} texts`);

    await record(tea, document);
    await record(other, document);
    await isCurrent(call, tea);
    await isCurrent(call, other);
    assert.equal(embedder.texts.length, paid, 'another record and another collection copy the vectors');
    const { embedding } = (await call('GET', `/v1/collections/${other}`)).body.data;
    assert.deepEqual([embedding.num_embedded, embedding.num_tokens], [paid, 0]);
    const [text = ''] = embedder.texts;
    const query = { query_text: text, top_k: 1, explain: true, mode: 'vectors' };
    const { body } = await call('POST', `/v1/collections/${other}/chunks/query`, query);
    assert.equal(body.data[0].content, text);
    assert.ok(body.data[0].explanation.vector.similarity > 0.999, 'the copy is the vector of the text');
    await first.services.close();

    const [again, two] = [createScriptedEmbedder('one', 64), createScriptedEmbedder('two', 64)];
    const second = await openTestService(t, { database, files, embedder: again, furtherEmbedders: [two] });
    const later = second.createProject(projectId);
    await later.call('DELETE', `/v1/collections/${tea}/records/${created.record_id}`);
    const third = await later.collection();
    await later.record(third, document);
    await isCurrent(later.call, third);
    assert.deepEqual(again.texts, ['test'], 'after a start, one short text shows the dimensions of the model');

    const stranger = second.createProject();
    const theirs = await stranger.collection();
    await stranger.record(theirs, document);
    await isCurrent(stranger.call, theirs);
    assert.equal(again.texts.length - 1, paid, 'another project pays for its texts itself');

    const [{ embedding_model_id: id }] = (await later.call('GET', `/v1/collections/${tea}`)).body.data.vector_sets;
    await later.call('POST', `/v1/collections/${tea}/reembed?embedding_model_id=${id}`);
    const sets = async () => (await later.call('GET', `/v1/collections/${tea}`)).body.data.vector_sets;
    await until(async () => (await sets())[1]?.role === 'kept');
    const questions = again.texts.filter((each) => each === 'test').length;
    assert.equal(again.texts.length - questions, 2 * paid, 'embedding with the same model again copies nothing');
  });
}

test('vectors of other dimensions are not copied', async (t) => {
  const database = await openTestDatabase(t);
  const files = createTestFiles();
  const first = await openTestService(t, { database, files, embedder: createScriptedEmbedder('same', 64) });
  const { projectId, call, collection, record } = first.createProject();
  const before = await collection();
  await record(before, { content: 'Green tea from Uji.' });
  await isCurrent(call, before);
  await first.services.close();
  const embedder = createScriptedEmbedder('same', 48);
  const second = (await openTestService(t, { database, files, embedder })).createProject(projectId);
  const after = await second.collection();
  await second.record(after, { content: 'Green tea from Uji.' });
  await isCurrent(second.call, after);
  assert.equal((await second.call('GET', `/v1/collections/${after}`)).body.data.embedding.dimensions, 48);
  assert.ok(embedder.texts.includes('Green tea from Uji.'));
});

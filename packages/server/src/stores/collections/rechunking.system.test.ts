import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../platform/testing/until.ts';
import type { Database } from '../../storage/database/database.ts';
import { createScriptedEmbedder } from '../search/testing/scripted-embedder.suite.ts';
import {
  openTestDatabase,
  openTestPostgres,
  openTestService,
  type TestCollectionsOptions,
} from './testing/test-collections.suite.ts';

const paragraph = (n: number) => `Paragraph ${n} tells what there is to tell about number ${n} of the list of numbers.`;
/** About 1,000 tokens in paragraphs that fit into every chunk. */
const long = Array.from({ length: 50 }, (_, n) => paragraph(n)).join('\n\n');

async function openRechunking(t: TestContext, options: TestCollectionsOptions = {}) {
  const service = await openTestService(t, options);
  const project = service.createProject();
  const id = await project.collection({ name: 'c' });
  const path = `/v1/collections/${id}`;
  const get = async () => (await project.call('GET', path)).body.data;
  const chunksOf = async (recordId: string) =>
    (await project.call('GET', `${path}/records/${recordId}/chunks?limit=100&order=asc`)).body.data;
  return {
    ...{ service, project, id, path, get, chunksOf },
    create: (body: object) => project.record(id, body),
    change: (chunking: unknown) => project.call('POST', path, { chunking }),
    /** Resolves when every record follows the settings. */
    completed: () =>
      until(async () => {
        const { rechunking } = await get();
        const waiting = await service.database.read
          .selectFrom('record')
          .select('id')
          .where('stage', '<>', 'done')
          .execute();
        return rechunking.num_pending_records === 0 && waiting.length === 0;
      }),
  };
}

const sizes = (chunks: ReadonlyArray<{ num_tokens: number }>) => chunks.map(({ num_tokens }) => num_tokens);
const textsOf = (chunks: ReadonlyArray<{ content: string }>) => chunks.map(({ content }) => content);
const idsOf = (chunks: ReadonlyArray<{ chunk_id: string }>) => chunks.map(({ chunk_id }) => chunk_id);

const databases: Readonly<Record<string, (t: TestContext) => Promise<Database>>> = {
  SQLite: openTestDatabase,
  PostgreSQL: openTestPostgres,
};

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: a change of chunking splits the records of the collection again, and no others`, async (t) => {
    const { service, project, id, path, get, chunksOf, create, change, completed } = await openRechunking(t, {
      database: await open(t),
    });
    const plain = await create({ content: long });
    const short = await create({ content: 'A short text.' });
    const splitter = { type: 'token', chunk_size: 100, chunk_overlap: 0 };
    const own = await create({ content: long, text_splitter: splitter });
    const edited = await create({ content: long });
    const deleted = await create({ content: long });
    const [first] = await chunksOf(edited.record_id);
    await project.call('POST', `${path}/chunks/${first.chunk_id}`, { content: 'A correction.' });
    await project.call('DELETE', `${path}/chunks/${(await chunksOf(deleted.record_id)).at(-1).chunk_id}`, {});
    const direct = (await project.call('POST', `${path}/chunks`, { content: 'Made by hand.' })).body.data;
    const kept = [short, own, edited, deleted];
    const before = await Promise.all(kept.map((record) => chunksOf(record.record_id)));
    const replaced = await chunksOf(plain.record_id);
    assert.ok(Math.max(...sizes(replaced)) > 200);

    const answer = await change({ chunk_size: 100 });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(answer.body.data.chunking, { chunk_size: 100 });
    await completed();
    assert.deepEqual((await get()).rechunking, { num_pending_records: 0, num_kept_records: 2 });
    const after = await chunksOf(plain.record_id);
    assert.ok(after.length > replaced.length);
    assert.ok(Math.max(...sizes(after)) <= 100);
    assert.equal(new Set([...idsOf(after), ...idsOf(replaced)]).size, after.length + replaced.length);
    assert.deepEqual(await Promise.all(kept.map((record) => chunksOf(record.record_id))), before);
    assert.equal((await project.call('GET', `${path}/chunks/${direct.chunk_id}`)).status, 200);
    const record = (await project.call('GET', `${path}/records/${plain.record_id}`)).body.data;
    assert.deepEqual([record.status, record.num_chunks, record.report.format], ['ready', after.length, 'text']);
    const text = (await project.call('GET', `${path}/records/${plain.record_id}/text`)).body.data;
    assert.equal(text.text, long);
    // New records follow the settings, and a retry splits a kept record again.
    assert.ok(Math.max(...sizes(await chunksOf((await create({ content: long })).record_id))) <= 100);
    await project.call('POST', `${path}/records/${edited.record_id}/retry`, {});
    await project.settled(id, edited.record_id);
    assert.ok(Math.max(...sizes(await chunksOf(edited.record_id))) <= 100);
    assert.equal((await get()).rechunking.num_kept_records, 1);
    const rows = await service.database.read
      .selectFrom('collection')
      .select('rechunking')
      .where('id', '=', id)
      .execute();
    assert.deepEqual(rows, [{ rechunking: 0 }]);
  });

  test(`${name}: a record whose file is gone keeps its chunks and its status`, async (t) => {
    const { service, project, path, get, chunksOf, create, change, completed } = await openRechunking(t, {
      database: await open(t),
    });
    const fileId = service.files.add(project.projectId, 'record_file', 'a.md', `# Title\n\n${long}`);
    const record = await create({ type: 'file', file_id: fileId });
    assert.equal(record.status, 'ready');
    const before = await chunksOf(record.record_id);
    service.files.remove(fileId);
    await change({ chunk_size: 60 });
    await completed();
    const { status, error, report } = (await project.call('GET', `${path}/records/${record.record_id}`)).body.data;
    assert.deepEqual([status, error, report], ['ready', null, record.report]);
    assert.deepEqual(await chunksOf(record.record_id), before);
    assert.deepEqual((await get()).rechunking, { num_pending_records: 0, num_kept_records: 1 });
  });

  test(`${name}: a record whose last processing has failed is counted among those that keep their chunks`, async (t) => {
    const { service, project, path, get, chunksOf, create, change, completed } = await openRechunking(t, {
      database: await open(t),
    });
    const record = await create({ content: long });
    const before = await chunksOf(record.record_id);
    const damaged = service.files.add(project.projectId, 'record_file', 'a.pdf', 'no PDF');
    await project.call('POST', `${path}/records/${record.record_id}`, { type: 'file', file_id: damaged });
    await project.settled(record.collection_id, record.record_id);
    await change({ chunk_size: 60 });
    await completed();
    assert.deepEqual((await get()).rechunking, { num_pending_records: 0, num_kept_records: 1 });
    assert.deepEqual(idsOf(await chunksOf(record.record_id)), idsOf(before));
  });

  test(`${name}: texts that stay the same keep their vectors, and the model is not asked for them`, async (t) => {
    const embedder = createScriptedEmbedder();
    const { get, chunksOf, create, change, completed } = await openRechunking(t, { database: await open(t), embedder });
    const section = (n: number, text: string) => `# Section ${n}\n\n${text}`;
    const sections = Array.from({ length: 4 }, (_, n) =>
      section(n, Array.from({ length: 4 }, () => paragraph(n)).join(' ')),
    );
    await change({ chunk_size: 100 });
    const fits = [...sections, section(9, long)].join('\n\n');
    const { record_id: recordId } = await create({ content: fits });
    await until(async () => (await get()).embedding.num_pending === 0);
    const { num_chunks: chunks } = await get();
    const before = new Set(textsOf(await chunksOf(recordId)));
    embedder.texts.length = 0;
    await change({ chunk_size: 150 });
    await completed();
    await until(async () => (await get()).embedding.num_pending === 0);
    const { num_chunks: now, embedding } = await get();
    assert.ok(now < chunks);
    assert.equal(embedding.num_embedded, now);
    assert.ok(embedder.texts.length > 0 && embedder.texts.length < now, `${embedder.texts.length} of ${now}`);
    const same = textsOf(await chunksOf(recordId)).filter((text) => before.has(text));
    assert.ok(same.length >= sections.length);
    assert.deepEqual(
      same.filter((text) => embedder.texts.includes(text)),
      [],
    );
  });
}

test('the old chunks answer until the new ones replace them, and a chunk that is changed meanwhile is kept', async (t) => {
  const { openSteps } = await import('../ingestion/testing/stepped-service.suite.ts');
  const { extractor, collectionId, create, call, settle, contents, find } = await openSteps(t);
  const recordId = await create();
  const reading = await extractor.next();
  await reading.give('old lion', 'old tiger');
  reading.end();
  await settle(recordId);
  const path = `/v1/collections/${collectionId}`;
  await call('POST', path, { chunking: { chunk_size: 60 } });
  const again = await extractor.next();
  assert.equal(again.task.chunkSize, 60);
  await again.give('new lion');
  assert.deepEqual(await find('lion'), ['old lion']);
  assert.deepEqual((await call('GET', path)).body.data.rechunking, { num_pending_records: 1, num_kept_records: 0 });
  const chunks = (await call('GET', `${path}/chunks?order=asc`)).body.data;
  assert.equal((await call('POST', `${path}/chunks/${chunks[0].chunk_id}`, { content: 'my lion' })).status, 200);
  again.end();
  await settle(recordId);
  assert.deepEqual(await contents(), ['my lion', 'old tiger']);
  assert.deepEqual((await call('GET', path)).body.data.rechunking, { num_pending_records: 0, num_kept_records: 1 });

  // A cancelled replacement keeps the chunks and the status as well.
  const other = await create();
  const first = await extractor.next();
  await first.give('old bear');
  first.end();
  await settle(other);
  await call('POST', path, { chunking: { chunk_size: 70 } });
  await extractor.next();
  assert.equal((await call('POST', `${path}/records/${other}/cancel`, {})).body.data.status, 'ready');
  assert.deepEqual(await find('bear'), ['old bear']);
});

test('settings that change while a record is split are applied afterwards', async (t) => {
  const { openSteps } = await import('../ingestion/testing/stepped-service.suite.ts');
  const { extractor, collectionId, create, call, settle, contents } = await openSteps(t);
  const recordId = await create();
  const reading = await extractor.next();
  await reading.give('by the default');
  await call('POST', `/v1/collections/${collectionId}`, { chunking: { chunk_size: 60 } });
  reading.end();
  const again = await extractor.next();
  assert.equal(again.task.chunkSize, 60);
  await again.give('by the settings');
  again.end();
  await settle(recordId);
  assert.deepEqual(await contents(), ['by the settings']);
});

test('chunking is validated, and equal settings replace nothing', async (t) => {
  const { project, get, change, create } = await openRechunking(t);
  await create({ content: long });
  for (const [chunking, message] of [
    [{ chunk_size: 49 }, /chunk_size.*50/],
    [{ chunk_size: 1001 }, /chunk_size.*1,?000/],
    [{ chunk_size: '100' }, /chunk_size.*integer/],
    [{ size: 100 }, /size/],
    ['small', /chunking/],
  ] as const) {
    const { status, body } = await change(chunking);
    assert.equal(status, 422, JSON.stringify(chunking));
    assert.match(body.error.message, message);
  }
  const pairs = await project.call('POST', '/v1/collections', { type: 'qa', chunking: { chunk_size: 100 } });
  assert.equal(pairs.status, 422);
  assert.match(pairs.body.error.message, /body\/chunking.*"text"/);
  assert.equal((await change({})).body.data.rechunking.num_pending_records, 0);
  const created = await project.call('POST', '/v1/collections', { chunking: { chunk_size: 100 } });
  assert.deepEqual(created.body.data.chunking, { chunk_size: 100 });
  assert.deepEqual((await get()).chunking, {});
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxResults, mostEqualChunks } from '@quartermaster/contract';
import { openTestDatabase, openTestPostgres, openTestService } from '../testing/test-collections.suite.ts';

interface Found {
  readonly chunk_id: string;
  readonly record_id: string | null;
  readonly content: string;
  readonly score: number;
  readonly equal_chunks?: { count: number; chunks: ReadonlyArray<{ chunk_id: string; record_id: string | null }> };
}

const databases = { SQLite: openTestDatabase, PostgreSQL: openTestPostgres };
const splitter = { type: 'separator', separators: ['|'] };

for (const [name, openDatabase] of Object.entries(databases)) {
  test(`${name}: pages of a question hold the same chunks in the same order as one long answer`, async (t) => {
    const { call, collection, record } = (
      await openTestService(t, { database: await openDatabase(t) })
    ).createProject();
    const collectionId = await collection();
    const contents = Array.from({ length: 130 }, (_, n) => `fox number ${n} ${'and others '.repeat(n % 7)}`);
    await record(collectionId, { content: contents.join('|'), text_splitter: splitter });
    const url = `/v1/collections/${collectionId}/chunks/query`;
    const ask = async (body: object) => (await call('POST', url, { query_text: 'fox', ...body })).body;

    const all = await ask({ top_k: maxResults });
    assert.deepEqual([all.fetched_count, all.has_more], [100, true]);
    const last = await ask({ top_k: maxResults, after: all.data[99].chunk_id });
    assert.deepEqual([last.fetched_count, last.has_more], [30, false]);
    const expected = [...all.data, ...last.data].map(({ chunk_id }: Found) => chunk_id);
    assert.equal(new Set(expected).size, 130);

    for (const top_k of [1, 7, 10]) {
      const read: string[] = [];
      for (let after: string | undefined, hasMore = true; hasMore; after = read.at(-1)) {
        const page = await ask({ top_k, after });
        read.push(...page.data.map(({ chunk_id }: Found) => chunk_id));
        hasMore = page.has_more;
      }
      assert.deepEqual(read, expected.slice(0, 50), `top_k ${top_k}`);
    }
  });

  test(`${name}: a cursor that is no result of the question is 404, and a text that is no id is 422`, async (t) => {
    const service = await openTestService(t, { database: await openDatabase(t) });
    const { call, collection } = service.createProject();
    const url = `/v1/collections/${await collection()}/chunks`;
    await call('POST', url, { content: 'a fox' });
    const other = (await call('POST', url, { content: 'a bear' })).body.data.chunk_id;
    const foreign = service.createProject();
    const foreignUrl = `/v1/collections/${await foreign.collection()}/chunks`;
    const ofOthers = (await foreign.call('POST', foreignUrl, { content: 'a fox' })).body.data.chunk_id;
    for (const after of [other, ofOthers, `chnk${'0'.repeat(20)}`]) {
      const { status, body } = await call('POST', `${url}/query`, { query_text: 'fox', after });
      assert.deepEqual([status, body.error.code], [404, 'OBJECT_NOT_FOUND']);
      assert.ok(body.error.message.includes(after));
    }
    for (const after of ['nothing', `rcrd${'0'.repeat(20)}`]) {
      const { status, body } = await call('POST', `${url}/query`, { query_text: 'fox', after });
      assert.deepEqual([status, body.error.details[0].path], [422, 'body/after']);
    }
  });

  test(`${name}: the limit question_equal_chunks bounds the names of chunks whose text is that of a result`, async (t) => {
    const { call, collection, record } = (
      await openTestService(t, { database: await openDatabase(t) })
    ).createProject();
    const collectionId = await collection();
    const records: string[] = [];
    for (let n = 0; n < 30; n++) {
      const content = `the fox sleeps in its den|a page with the number ${n} and a fox, which is long enough to rank lower`;
      records.push((await record(collectionId, { content, text_splitter: splitter })).record_id);
    }
    const url = `/v1/collections/${collectionId}/chunks/query`;
    const { data } = (await call('POST', url, { query_text: 'fox', top_k: 5 })).body as { data: Found[] };
    const [best, ...others] = data;
    assert.equal(best?.content, 'the fox sleeps in its den');
    const { count, chunks } = best?.equal_chunks ?? { count: 0, chunks: [] };
    assert.deepEqual([count, chunks.length], [29, mostEqualChunks]);
    const named = [best?.record_id, ...chunks.map(({ record_id }) => record_id)];
    assert.equal(new Set(named).size, 21);
    assert.ok(named.every((id) => records.includes(id ?? '')));
    assert.equal(others.length, 4);
    for (const { content, equal_chunks } of others) {
      assert.match(content, /^a page/);
      assert.equal(equal_chunks, undefined);
    }
  });
}

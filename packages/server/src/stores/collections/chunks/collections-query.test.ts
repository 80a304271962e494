import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase, openTestPostgres, openTestService } from '../testing/test-collections.suite.ts';

interface Found {
  readonly chunk_id: string;
  readonly collection_id: string;
  readonly content: string;
  readonly score: number;
  readonly equal_chunks?: { count: number; chunks: ReadonlyArray<{ collection_id: string }> };
}

const databases = { SQLite: openTestDatabase, PostgreSQL: openTestPostgres };
const url = '/v1/chunks/query';

for (const [name, openDatabase] of Object.entries(databases)) {
  test(`${name}: a question to several collections returns the chunks that each of them returns, sorted by score`, async (t) => {
    const { call, collection } = (await openTestService(t, { database: await openDatabase(t) })).createProject();
    const ids = [await collection(), await collection(), await collection()];
    for (const [at, id] of ids.entries()) {
      for (let n = 0; n < 8; n++) {
        const content = `fox ${'fox '.repeat((n * 3 + at) % 5)}number ${n} of ${at} ${'and others '.repeat((n + at) % 4)}`;
        await call('POST', `/v1/collections/${id}/chunks`, { content });
      }
      for (let n = 0; n < 12; n++)
        await call('POST', `/v1/collections/${id}/chunks`, { content: `bear ${n} of ${at}` });
    }
    const question = { query_text: 'fox', top_k: 20 };
    const alone: Found[] = [];
    for (const id of ids) alone.push(...(await call('POST', `/v1/collections/${id}/chunks/query`, question)).body.data);
    const { status, body } = await call('POST', url, { ...question, top_k: 100, collection_ids: [...ids, ids[0]] });
    assert.equal(status, 200);
    assert.deepEqual([body.fetched_count, body.has_more], [24, false]);
    assert.deepEqual(
      body.rankings,
      ids.map((collection_id) => ({ collection_id, ranking: 'words', ranking_reason: 'no_embedder' })),
    );
    const byScore = alone.toSorted((a, b) => b.score - a.score).map(({ chunk_id, score }) => [chunk_id, score]);
    assert.deepEqual(
      body.data.map(({ chunk_id, score }: Found) => [chunk_id, score]),
      byScore,
    );
    const read: Found[] = [];
    for (let after: string | undefined, hasMore = true; hasMore; after = read.at(-1)?.chunk_id) {
      const page = (await call('POST', url, { query_text: 'fox', top_k: 7, after, collection_ids: ids })).body;
      read.push(...page.data);
      hasMore = page.has_more;
    }
    assert.deepEqual(
      read.map(({ chunk_id, score }) => [chunk_id, score]),
      byScore,
    );
  });

  test(`${name}: equal texts of several collections are one result that names their collections`, async (t) => {
    const { call, collection } = (await openTestService(t, { database: await openDatabase(t) })).createProject();
    const ids = [await collection(), await collection()];
    for (const id of ids) {
      for (const content of ['a fox', `a bear and fox of ${id}`]) {
        await call('POST', `/v1/collections/${id}/chunks`, { content });
      }
    }
    const { data } = (await call('POST', url, { query_text: 'fox', collection_ids: ids })).body as { data: Found[] };
    const [best, ...others] = data;
    assert.equal(best?.content, 'a fox');
    const named = [best?.collection_id, ...(best?.equal_chunks?.chunks ?? []).map((each) => each.collection_id)];
    assert.deepEqual(named.toSorted(), ids.toSorted());
    assert.deepEqual(others.map(({ collection_id }) => collection_id).sort(), ids.toSorted());
  });

  test(`${name}: a question to a collection of another project is 404, as for one that does not exist`, async (t) => {
    const service = await openTestService(t, { database: await openDatabase(t) });
    const { call, collection } = service.createProject();
    const own = await collection();
    await call('POST', `/v1/collections/${own}/chunks`, { content: 'a fox' });
    const foreign = await service.createProject().collection();
    const absent = `${foreign.slice(0, -6)}abcdef`;
    for (const id of [foreign, absent, 'nothing']) {
      for (const collection_ids of [[id], [own, id], [id, own]]) {
        const { status, body } = await call('POST', url, { query_text: 'fox', collection_ids });
        assert.deepEqual([status, body.error.code], [404, 'OBJECT_NOT_FOUND']);
        const message = 'No collection with the id "ID" was found. Check the id and the project of the API key.';
        assert.equal(body.error.message.replaceAll(id, 'ID'), message);
      }
    }
    for (const collection_ids of [undefined, [], own, [''], [7], Array.from({ length: 21 }, () => own)]) {
      assert.equal((await call('POST', url, { query_text: 'fox', collection_ids })).status, 422);
    }
  });
}

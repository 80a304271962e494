import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase, openTestPostgres, openTestService } from '../testing/test-collections.suite.ts';

interface Found {
  readonly chunk_id: string;
  readonly content: string;
  readonly num_tokens: number;
  readonly neighbours?: { before: Found[]; after: Found[]; omitted: number };
}

const databases = { SQLite: openTestDatabase, PostgreSQL: openTestPostgres };
const splitter = { type: 'separator', separators: ['|'] };

for (const [name, openDatabase] of Object.entries(databases)) {
  test(`${name}: expand returns the chunks around a result as the list of its record has them`, async (t) => {
    const { call, collection, record } = (
      await openTestService(t, { database: await openDatabase(t) })
    ).createProject();
    const collectionId = await collection();
    const parts = Array.from({ length: 12 }, (_, n) => (n % 5 === 3 ? `a fox in part ${n}` : `nothing in part ${n}`));
    const of = { content: parts.join('|'), text_splitter: splitter };
    const { record_id } = await record(collectionId, of);
    await record(collectionId, of);
    await call('POST', `/v1/collections/${collectionId}/chunks`, { content: 'a fox without a record' });
    const path = `/v1/collections/${collectionId}`;
    const listed: Found[] = (await call('GET', `${path}/records/${record_id}/chunks?order=asc&limit=100`)).body.data;
    const ask = async (body: object) => {
      const filters = { type: 'in', field: 'record_id', value: [record_id] };
      const { data } = (await call('POST', `${path}/chunks/query`, { query_text: 'fox', filters, ...body })).body;
      return data as Found[];
    };
    for (const expand of [1, 3, 5]) {
      const found = await ask({ expand, top_k: 10 });
      assert.deepEqual(found.map(({ content }) => content).sort(), ['a fox in part 3', 'a fox in part 8']);
      for (const { chunk_id, neighbours } of found) {
        const at = listed.findIndex((each) => each.chunk_id === chunk_id);
        assert.deepEqual(neighbours, {
          before: listed.slice(Math.max(0, at - expand), at),
          after: listed.slice(at + 1, at + 1 + expand),
          omitted: 0,
        });
      }
    }
    for (const { neighbours } of await ask({ expand: 0 })) assert.equal(neighbours, undefined);
    const alone = await ask({ query_text: 'without a record', expand: 2, top_k: 1, filters: null });
    assert.deepEqual(alone[0]?.neighbours, { before: [], after: [], omitted: 0 });
  });

  test(`${name}: max_tokens counts the neighbours, of which the nearest come first`, async (t) => {
    const { call, collection, record } = (
      await openTestService(t, { database: await openDatabase(t) })
    ).createProject();
    const collectionId = await collection();
    await record(collectionId, {
      content: 'one two three|four five|a fox|six seven|eight nine ten',
      text_splitter: splitter,
    });
    const ask = async (max_tokens: number): Promise<Found | undefined> =>
      (await call('POST', `/v1/collections/${collectionId}/chunks/query`, { query_text: 'fox', expand: 2, max_tokens }))
        .body.data[0];
    const whole = await ask(1_000);
    const all = [...(whole?.neighbours?.before ?? []), whole, ...(whole?.neighbours?.after ?? [])];
    assert.equal(
      all.map((chunk) => chunk?.content).join('|'),
      'one two three|four five|a fox|six seven|eight nine ten',
    );
    const [farBefore, before, hit, after] = all.map((chunk) => chunk?.num_tokens ?? 0) as [
      number,
      number,
      number,
      number,
    ];
    const shown = async (tokens: number) => {
      const { neighbours } = (await ask(tokens)) ?? {};
      const texts = (chunks: readonly Found[] = []) => chunks.map(({ content }) => content);
      return [texts(neighbours?.before), texts(neighbours?.after), neighbours?.omitted];
    };
    assert.deepEqual(await shown(hit), [[], [], 4]);
    assert.deepEqual(await shown(hit + before), [['four five'], [], 3]);
    assert.deepEqual(await shown(hit + before + after), [['four five'], ['six seven'], 2]);
    assert.deepEqual(await shown(hit + before + after + farBefore), [['one two three', 'four five'], ['six seven'], 1]);
    assert.equal(await ask(hit - 1), undefined);
    const query = { query_text: 'fox', max_tokens: hit - 1, other: 1 };
    const { body } = await call('POST', '/v1/chunks/query', { ...query, collection_ids: [collectionId] });
    assert.match(body.warnings[0], new RegExp(`more than ${hit - 1} tokens. The shortest has ${hit}`));
    assert.match(body.warnings[1], /other/);
    const ofOne = await call('POST', `/v1/collections/${collectionId}/chunks/query`, query);
    assert.deepEqual(ofOne.body.warnings[0], body.warnings[0]);
  });
}

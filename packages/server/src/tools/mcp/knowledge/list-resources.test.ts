import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListQuery } from '@quartermaster/contract';
import { objectNotFound } from '../../../platform/problem.ts';
import type { KnowledgeStore } from './knowledge-store.ts';
import { listResources, resourceLimits } from './list-resources.ts';

const idOf = (prefix: string, nth: number) => `${prefix}${String(nth).padStart(20, '0')}`;

/** Returns the page of a list, which starts after the cursor. */
function pageOf<Item>(items: readonly Item[], { limit = 20, after }: ListQuery, id: (item: Item) => string) {
  const following = items.filter((item) => after === undefined || id(item) > after);
  return { items: following.slice(0, limit), hasMore: following.length > limit };
}

/** A store with collections of these sizes. It counts the lists of records that are asked for. */
function storeOf(sizes: readonly number[]) {
  let asked = 0;
  let collections = sizes.map((num_records, nth) => ({ collection_id: idOf('coll', nth), num_records }));
  const records = new Map(
    collections.map(({ collection_id, num_records }, nth) => [
      collection_id,
      Array.from({ length: num_records }, (_, place) => ({
        ...{ record_id: idOf('rcrd', nth * 1000 + place), collection_id, title: `${nth}/${place}`, type: 'file' },
        ...{ num_chunks: 1, content: '{}', updated_timestamp: 0 },
      })),
    ]),
  );
  const store = {
    collections: {
      list: async (_project: string, query: ListQuery) => pageOf(collections, query, (one) => one.collection_id),
    },
    records: {
      async list(_project: string, id: string, query: ListQuery) {
        asked += 1;
        if (collections.every((one) => one.collection_id !== id)) throw objectNotFound('collection', id);
        return pageOf(records.get(id) ?? [], query, (one) => one.record_id);
      },
      name: async () => new Map(),
    },
  };
  return {
    store: store as unknown as KnowledgeStore,
    asked: () => asked,
    remove(nth: number) {
      collections = collections.filter((one) => one.collection_id !== idOf('coll', nth));
    },
  };
}

const shapes: Readonly<Record<string, readonly number[]>> = {
  'one collection': [250],
  'a page that ends with a collection': [100, 100, 50],
  'a page that ends with the last collection': [100],
  'empty collections between others': [0, 3, 0, 0, 120, 0],
  'many small collections': Array(55).fill(3),
  'only empty collections': Array(45).fill(0),
  nothing: [],
};

for (const [name, sizes] of Object.entries(shapes)) {
  test(`the pages of ${name} have every record once`, async () => {
    const { store, asked } = storeOf(sizes);
    const uris: string[] = [];
    let pages = 0;
    let cursor: string | undefined;
    do {
      const page = await listResources(store, { projectId: 'p', keyId: null }, cursor);
      assert.ok(page.resources.length <= resourceLimits.page);
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.equal(uris.length, total);
    assert.equal(new Set(uris).size, total);
    assert.ok(pages <= 1 + Math.ceil(total / resourceLimits.page) + sizes.length / resourceLimits.collections);
    assert.ok(asked() <= pages * (resourceLimits.collections + 1), `${asked()} lists`);
  });
}

test('the limit knowledge_resources ends a page of an endpoint of one collection, and the next page has the rest', async () => {
  const { store } = storeOf([5, resourceLimits.page + 1, 5]);
  const caller = { projectId: 'p', keyId: null, collectionId: idOf('coll', 1) };
  const first = await listResources(store, caller, undefined);
  const second = await listResources(store, caller, first.nextCursor);
  assert.deepEqual(
    [first.resources.length, second.resources.length, second.nextCursor],
    [resourceLimits.page, 1, undefined],
  );
  for (const { uri } of second.resources) assert.ok(uri.startsWith(`quartermaster://collections/${idOf('coll', 1)}/`));
});

test('the list goes on after the record and the collection of the cursor were deleted', async () => {
  const { store, remove } = storeOf([3, resourceLimits.page + 5, 4]);
  const caller = { projectId: 'p', keyId: null };
  const first = await listResources(store, caller, undefined);
  assert.equal(first.resources.length, resourceLimits.page);
  remove(1);
  const second = await listResources(store, caller, first.nextCursor);
  assert.deepEqual(
    second.resources.map(({ uri }) => uri),
    [0, 1, 2, 3].map((place) => `quartermaster://collections/${idOf('coll', 2)}/records/${idOf('rcrd', 2000 + place)}`),
  );
  const alone = { ...caller, collectionId: idOf('coll', 1) };
  await assert.rejects(listResources(store, alone, first.nextCursor), { code: 'OBJECT_NOT_FOUND' });
});

test('a cursor of another form or another collection is not found', async () => {
  const { store } = storeOf([5]);
  const caller = { projectId: 'p', keyId: null, collectionId: idOf('coll', 0) };
  for (const cursor of ['', 'x', idOf('coll', 1), `${idOf('coll', 0)}.`, `${idOf('coll', 0)}.x`, 'x'.repeat(10_000)]) {
    await assert.rejects(listResources(store, caller, cursor), { code: 'OBJECT_NOT_FOUND' }, cursor);
  }
});

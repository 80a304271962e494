import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChunkQuery, ScoredChunk } from '@quartermaster/contract';
import type { KnowledgeStore } from './knowledge-store.ts';
import { searchDocuments } from './search-documents.ts';
import { questionLimits } from './tool-arguments.ts';

/** A store whose collections have as many chunks as a question asks for. It records how many are asked for. */
function endlessStore(collections: number) {
  const asked: number[] = [];
  const ids = Array.from({ length: collections }, (_, nth) => `coll${String(nth).padStart(20, '0')}`);
  const chunk = (collection: string, nth: number): ScoredChunk => ({
    chunk_id: `chnk${String(nth).padStart(20, '0')}`,
    ...{ record_id: null, collection_id: collection, content: `${collection} ${nth}`, num_tokens: 20, metadata: {} },
    ...{ title: null, file_id: null, file_name: null, url: null },
    ...{ locator: null, updated_timestamp: 0, created_timestamp: 0, score: 1 / (nth + 1) },
  });
  const store = {
    collections: { list: async () => ({ items: ids.map((id) => ({ collection_id: id })), hasMore: collections > 19 }) },
    records: { name: async () => new Map() },
    chunks: {
      async query({ collectionIds: [collection = ''] }: { collectionIds: string[] }, { top_k: count = 0 }: ChunkQuery) {
        asked.push(count);
        const items = Array.from({ length: count }, (_, nth) => chunk(collection, nth));
        const isFirst = collection === ids[0];
        return isFirst
          ? { items, hasGoodMatch: true, rankings: [{ ranking: 'fused' as const, reason: null }] }
          : { items, hasGoodMatch: true, rankings: [{ ranking: 'words' as const, reason: 'other_model' as const }] };
      },
    },
    countTokens: async (text: string) => text.length,
    consoleUrl: () => 'https://x.test',
  };
  return { asked, store: store as unknown as KnowledgeStore };
}

for (const collections of [1, 3, 20]) {
  test(`the limit knowledge_passages ends the pages of a question to ${collections} collections`, async () => {
    const { store, asked } = endlessStore(collections);
    const caller = { projectId: 'p', keyId: null };
    const ids = new Set<string>();
    let answers = 0;
    let cursor: string | undefined;
    do {
      const page: Awaited<ReturnType<typeof searchDocuments>> = await searchDocuments(store, caller, {
        ...{ query: 'x', top_k: 20, max_tokens: 24_000 },
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const { id } of page.results) ids.add(id);
      assert.equal(page.not_searched !== undefined, collections > 19);
      assert.deepEqual(page.rankings, [
        { ranking: 'fused', collections: 1 },
        ...(collections > 1 ? [{ ranking: 'words', reason: 'other_model', collections: collections - 1 }] : []),
      ]);
      cursor = page.next_cursor;
      answers += 1;
    } while (cursor !== undefined);
    const perCollection = Math.floor(questionLimits.ranked / collections);
    assert.equal(ids.size, perCollection * collections);
    assert.equal(asked.length, answers * collections);
    assert.equal(Math.max(...asked), perCollection);
  });
}

test('an answer without a good match says so, whatever its page', async () => {
  const { store } = endlessStore(1);
  const caller = { projectId: 'p', keyId: null };
  const good = await searchDocuments(store, caller, { query: 'x' });
  assert.equal(good.no_good_match, undefined);
  const { query } = store.chunks;
  const chunks = {
    ...store.chunks,
    async query(...asked: Parameters<typeof query>) {
      return { ...(await query(...asked)), hasGoodMatch: false };
    },
  };
  const poor = await searchDocuments({ ...store, chunks }, caller, { query: 'x' });
  assert.match(poor.no_good_match ?? '', /^No passage matches well: /);
  assert.equal(poor.results.length, good.results.length);
});

test('a passage has its neighbours around it while they fit, and stands alone otherwise', async () => {
  const { store } = endlessStore(1);
  const { query } = store.chunks;
  const expands: Array<number | undefined> = [];
  const chunks = {
    ...store.chunks,
    async query(...asked: Parameters<typeof query>) {
      expands.push(asked[1].expand);
      const found = await query(...asked);
      const near = (content: string, num_tokens: number) => ({
        ...(found.items[0] as ScoredChunk),
        content,
        num_tokens,
      });
      const items = found.items.map((item, nth) => ({
        ...item,
        neighbours: { before: [near('before', 2)], after: [near('after', nth === 0 ? 2 : 30_000)], omitted: 0 },
      }));
      const long = items.map((item, nth) => (nth === 0 ? item : { ...item, ...lengthen(item.neighbours) }));
      return { ...found, items: long };
    },
  };
  const lengthen = (near: NonNullable<ScoredChunk['neighbours']>) => ({
    neighbours: { ...near, after: near.after.map((each) => ({ ...each, content: 'x'.repeat(100_000) })) },
  });
  const { results } = await searchDocuments(
    { ...store, chunks },
    { projectId: 'p', keyId: null },
    { query: 'x', top_k: 2, expand: 1 },
  );
  const [first = '', second = ''] = results.map(({ text }) => text);
  assert.match(first, /^before\n\ncoll0+ 0\n\nafter$/);
  assert.match(second, /^coll0+ 1$/);
  assert.deepEqual(expands, [1]);
});

test('a filter with too many values is refused before a collection is searched', async () => {
  const { store, asked } = endlessStore(3);
  const lists = Array.from({ length: 6 }, () => ({
    ...{ type: 'in' as const, key: 'k', value: Array.from({ length: 100 }, (_, n) => n) },
  }));
  const question = { query: 'x', filters: { type: 'or' as const, filters: lists } };
  await assert.rejects(searchDocuments(store, { projectId: 'p', keyId: null }, question), {
    message: 'arguments/filters must be a filter with at most 512 values in all; received 600 values.',
  });
  assert.deepEqual(asked, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListQuery } from '@quartermaster/contract';
import { countTokens } from '../../../stores/extraction/tokens.ts';
import { answerTokens } from './answer-size.ts';
import { fetchDocument } from './fetch-document.ts';
import { listCollections } from './knowledge.ts';
import type { KnowledgeStore } from './knowledge-store.ts';
import { searchDocuments } from './search-documents.ts';

const idOf = (prefix: string, nth = 0) => `${prefix}${String(nth).padStart(20, '0')}`;

/** Texts with more tokens for each character, as titles and names, than other texts have. */
const texts: Readonly<Record<string, string>> = {
  prose: 'The library opens at nine. ',
  'random letters': 'q7x9z2w4k8',
  'rare characters': '𠀀𠀁𠀂ꙮ',
  code: "  'search.show': '在文档中打开。',\n",
};

/** A store in which every name and every chunk has one text. */
function storeOf(text: string): KnowledgeStore {
  const content = text.repeat(30);
  const name = { title: text.repeat(12).slice(0, 255), fileId: null, fileName: null, url: null };
  const chunk = (nth: number) => ({
    ...{ chunk_id: idOf('chnk', nth), collection_id: idOf('coll'), record_id: idOf('rcrd'), score: 1, metadata: {} },
    ...{
      content,
      num_tokens: countTokens(content),
      locator: { heading_path: [text.repeat(12)], sheet: text.repeat(12) },
    },
  });
  const many = <Item>(count: number, create: (nth: number) => Item) =>
    Array.from({ length: count }, (_, nth) => create(nth));
  const collection = (nth: number) => ({
    ...{ collection_id: idOf('coll', nth), type: 'text', num_records: 1 },
    ...{ name: text.repeat(12).slice(0, 127), description: text.repeat(52).slice(0, 512) },
  });
  const all = many(70, collection);
  return {
    collections: {
      async list(_project: string, { limit = 20, after }: ListQuery) {
        const start = all.findIndex((one) => one.collection_id === after) + 1;
        return { items: all.slice(start, start + limit), hasMore: start + limit < all.length };
      },
    },
    records: { name: async () => new Map([[idOf('rcrd'), name]]), get: async () => ({ status: 'ready' }) },
    chunks: {
      query: async () => ({
        items: many(21, chunk),
        hasGoodMatch: true,
        rankings: [{ ranking: 'words', reason: 'no_embedder' }],
      }),
      list: async () => ({ items: many(100, chunk), hasMore: true }),
      get: async () => chunk(0),
    },
    countTokens: async (counted: string) => countTokens(counted),
    consoleUrl: () => 'https://books.example',
  } as unknown as KnowledgeStore;
}

for (const [kind, text] of Object.entries(texts)) {
  test(`answers whose names and texts are ${kind} have at most the tokens of their budget`, async () => {
    const store = storeOf(text);
    const caller = { projectId: idOf('proj'), keyId: null, wantsLinks: false };
    const collections = [idOf('coll')];
    for (const max_tokens of [answerTokens.least, answerTokens.default]) {
      const found = await searchDocuments(store, caller, { query: 'x', collections, top_k: 20, max_tokens });
      const record = `quartermaster://collections/${idOf('coll')}/records/${idOf('rcrd')}`;
      for (const answer of [found, await fetchDocument(store, caller, { id: record, max_tokens })]) {
        const tokens = countTokens(JSON.stringify(answer));
        assert.ok(tokens <= max_tokens, `${tokens} of ${max_tokens} tokens`);
      }
    }
  });

  test(`pages of collections whose names are ${kind} have at most 8,000 tokens, and every collection once`, async () => {
    const ids = new Set<string>();
    let cursor: string | undefined;
    do {
      const request = cursor === undefined ? {} : { cursor };
      const page = await listCollections(storeOf(text), { projectId: idOf('proj'), keyId: null }, request);
      assert.ok(countTokens(JSON.stringify(page)) <= answerTokens.default);
      for (const { id } of page.collections) ids.add(id);
      cursor = Reflect.get(page, 'next_cursor');
    } while (cursor !== undefined);
    assert.equal(ids.size, 70);
  });
}

import { checkCollection, type Permissions } from '../../../platform/permissions.ts';
import type { KnowledgeStore } from './knowledge-store.ts';

/** Returns the store as a caller sees it. To the caller, no other collection exists. */
export function limitStore(store: KnowledgeStore, permissions: Permissions): KnowledgeStore {
  if (permissions.collections === null) return store;
  const { collections, records, chunks } = store;
  /** Rejects like a read of a collection that does not exist. */
  const check = async (collectionId: string) => checkCollection(permissions, collectionId);
  return {
    ...store,
    collections: {
      get: async (projectId, collectionId) => {
        await check(collectionId);
        return await collections.get(projectId, collectionId);
      },
      list: (projectId, query) => collections.list(projectId, query, permissions.collections),
    },
    records: {
      get: async (key) => {
        await check(key.collectionId);
        return await records.get(key);
      },
      list: async (projectId, collectionId, query) => {
        await check(collectionId);
        return await records.list(projectId, collectionId, query);
      },
      // Only records of the answers above are named.
      name: records.name,
    },
    chunks: {
      get: async (key) => {
        await check(key.collectionId);
        return await chunks.get(key);
      },
      list: async (of, query) => {
        await check(of.collectionId);
        return await chunks.list(of, query);
      },
      query: async (of, body, signal) => {
        for (const id of of.collectionIds) await check(id);
        return await chunks.query(of, body, signal);
      },
    },
  };
}

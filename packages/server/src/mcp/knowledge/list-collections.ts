import type { Collection } from '@quartermaster/contract';
import type { KnowledgeStore } from './knowledge-store.ts';
import type { KnowledgeCaller } from './search-documents.ts';

/** Names and descriptions are bounded, so a page has at most about 8,000 tokens. */
const pageSize = 20;

/** Lists the collections of the project, or the one of the endpoint. */
export async function listCollections(
  { collections }: KnowledgeStore,
  { projectId, collectionId }: KnowledgeCaller,
  { cursor }: { readonly cursor?: string },
) {
  if (collectionId !== undefined) return { collections: [toEntry(await collections.get(projectId, collectionId))] };
  const page = await collections.list(projectId, {
    limit: pageSize,
    ...(cursor === undefined ? {} : { after: cursor }),
  });
  const last = page.items.at(-1)?.collection_id;
  const next = page.hasMore && last !== undefined ? { next_cursor: last } : {};
  return { collections: page.items.map(toEntry), ...next };
}

function toEntry({ collection_id: id, name, description, type, num_records: records }: Collection) {
  return { id, name, description, type, records };
}

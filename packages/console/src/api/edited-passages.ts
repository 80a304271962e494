import { filesApi } from './addresses.ts';

/** Returns how many passages of a document were edited. Processing the document again loses their text. */
export async function countEdited(path: { readonly collection_id: string; readonly record_id: string }) {
  const endpoint = 'GET /v1/collections/{collection_id}/records/{record_id}/chunks';
  const query = { edited: true, count: true, limit: 1 } as const;
  return (await filesApi.json(endpoint, { path, query })).total_count ?? 0;
}

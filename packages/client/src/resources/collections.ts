import type { QueryOf } from '../create-api.ts';
import type {
  ChunkCreate,
  ChunkQuery,
  ChunkUpdate,
  CollectionCreate,
  CollectionUpdate,
  EvaluationCreate,
  FilesApi,
} from '../generated/files-api.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';

type ChunksQuery = QueryOf<FilesApi, 'GET /v1/collections/{collection_id}/chunks'>;
type ListQuery = QueryOf<FilesApi, 'GET /v1/collections'>;
type ReembedQuery = QueryOf<FilesApi, 'POST /v1/collections/{collection_id}/reembed'>;

export type Collections = ReturnType<typeof createCollections>;
export type Chunks = ReturnType<typeof createChunks>;

export function createCollections(calls: Calls<FilesApi>) {
  const one = '/v1/collections/{collection_id}' as const;
  const path = (collectionId: string) => ({ collection_id: collectionId });
  return {
    /** Creates a collection. A lost response is not retried. */
    create: (body: CollectionCreate = {}, options: RequestOptions = {}) =>
      calls.data('POST /v1/collections', { body }, options),
    list: (query: ListQuery = {}, options: RequestOptions = {}) =>
      calls.list('GET /v1/collections', { query }, (collection) => collection.collection_id, options),
    get: (collectionId: string, options: RequestOptions = {}) =>
      calls.data(`GET ${one}`, { path: path(collectionId) }, options),
    update: (collectionId: string, body: CollectionUpdate, options: RequestOptions = {}) =>
      calls.data(`POST ${one}`, { path: path(collectionId), body }, options),
    /** Deletes a collection with its records and chunks. */
    delete: (collectionId: string, options: RequestOptions = {}) =>
      calls.done(`DELETE ${one}`, { path: path(collectionId) }, options),
    /** Builds vectors of the first or the named model beside those in use, or returns to kept ones. */
    reembed: (collectionId: string, query: ReembedQuery = {}, options: RequestOptions = {}) =>
      calls.data(`POST ${one}/reembed`, { path: path(collectionId), query }, options),
    /** Asks the questions of an uploaded sheet, and returns at which places their answers are. A lost response is not retried. */
    evaluate: (collectionId: string, body: EvaluationCreate, options: RequestOptions = {}) =>
      calls.data(`POST ${one}/evaluations`, { path: path(collectionId), body }, options),
    /** Returns the last evaluation; null before the first. */
    lastEvaluation: async (collectionId: string, options: RequestOptions = {}) =>
      (await calls.data(`GET ${one}/evaluations`, { path: path(collectionId) }, options))[0] ?? null,
    /** Lists the chunks whose text has failed to be embedded, and why. */
    embeddingFailures: (collectionId: string, query: ListQuery = {}, options: RequestOptions = {}) =>
      calls.list(
        `GET ${one}/embedding_failures`,
        { path: path(collectionId), query },
        (failure) => failure.chunk_id,
        options,
      ),
    /** Sends the failed texts to the model again, those that it refused included. */
    retryEmbeddingFailures: (collectionId: string, options: RequestOptions = {}) =>
      calls.data(`POST ${one}/embedding_failures/retry`, { path: path(collectionId) }, options),
  };
}

export function createChunks(calls: Calls<FilesApi>) {
  const all = '/v1/collections/{collection_id}/chunks' as const;
  const path = (collectionId: string, chunkId: string) => ({ collection_id: collectionId, chunk_id: chunkId });
  return {
    /** Creates a chunk without a record. A lost response is not retried. */
    create: (collectionId: string, body: ChunkCreate, options: RequestOptions = {}) =>
      calls.data(`POST ${all}`, { path: { collection_id: collectionId }, body }, options),
    /** Lists the chunks of a collection. `records.chunks` lists those of a record. */
    list: (collectionId: string, query: ChunksQuery = {}, options: RequestOptions = {}) =>
      calls.list(`GET ${all}`, { path: { collection_id: collectionId }, query }, (chunk) => chunk.chunk_id, options),
    get: (collectionId: string, chunkId: string, options: RequestOptions = {}) =>
      calls.data(`GET ${all}/{chunk_id}`, { path: path(collectionId, chunkId) }, options),
    /** Returns the places of a chunk on the pages of its PDF document or picture. */
    boxes: (collectionId: string, chunkId: string, options: RequestOptions = {}) =>
      calls.data(`GET ${all}/{chunk_id}/boxes`, { path: path(collectionId, chunkId) }, options),
    update: (collectionId: string, chunkId: string, body: ChunkUpdate, options: RequestOptions = {}) =>
      calls.data(`POST ${all}/{chunk_id}`, { path: path(collectionId, chunkId), body }, options),
    delete: (collectionId: string, chunkId: string, options: RequestOptions = {}) =>
      calls.done(`DELETE ${all}/{chunk_id}`, { path: path(collectionId, chunkId) }, options),
  };
}

/**
 * Returns the function that finds the chunks of one or more collections which answer a question, the best first. The id of the last
 * chunk as `after` gets the next page.
 */
export function createSearch(calls: Calls<FilesApi>) {
  return (collections: string | readonly string[], query: ChunkQuery, options: RequestOptions = {}) => {
    if (typeof collections !== 'string') {
      const body = { ...query, collection_ids: [...collections] };
      return calls.data('POST /v1/chunks/query', { body }, options);
    }
    const request = { path: { collection_id: collections }, body: query };
    return calls.data('POST /v1/collections/{collection_id}/chunks/query', request, options);
  };
}

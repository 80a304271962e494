import { asPreview, asRecord } from './answers.ts';
import type { Api, QueryOf } from './create-api.ts';
import { ApiError } from './errors.ts';
import type { FilesApi, RecordCreate, RecordUpdate } from './generated/files-api.ts';

type Chunks = 'GET /v1/collections/{collection_id}/records/{record_id}/chunks';
type Rows = 'GET /v1/collections/{collection_id}/records/{record_id}/rows';

/** Milliseconds between status requests while the key has no free event stream. */
const pollMs = 1000;

export function recordCalls(api: Api<FilesApi>) {
  const path = (collectionId: string, recordId: string) => ({ collection_id: collectionId, record_id: recordId });
  const create = (collectionId: string, body: RecordCreate, isDryRun: boolean, signal?: AbortSignal) =>
    api.data('POST /v1/collections/{collection_id}/records', {
      path: { collection_id: collectionId },
      query: { dry_run: isDryRun ? true : undefined },
      body,
      signal,
    });
  const records = {
    create: async (collectionId: string, body: RecordCreate) => asRecord(await create(collectionId, body, false)),
    /** Reads the source without storing anything. @returns the chunks that would be created, and the rows that would be refused */
    preview: async (collectionId: string, body: RecordCreate, signal?: AbortSignal) =>
      asPreview(await create(collectionId, body, true, signal)),
    get: (collectionId: string, recordId: string) =>
      api.data('GET /v1/collections/{collection_id}/records/{record_id}', { path: path(collectionId, recordId) }),
    /** Changes a record. Except for metadata, a change creates the chunks again; the old ones stay until then. */
    update: (collectionId: string, recordId: string, body: RecordUpdate) =>
      api.data('POST /v1/collections/{collection_id}/records/{record_id}', {
        path: path(collectionId, recordId),
        body,
      }),
    /** Creates the chunks again from the same source. */
    retry: (collectionId: string, recordId: string) =>
      api.data('POST /v1/collections/{collection_id}/records/{record_id}/retry', {
        path: path(collectionId, recordId),
      }),
    /** Stops the processing of a record. A complete record stays unchanged. */
    cancel: (collectionId: string, recordId: string) =>
      api.data('POST /v1/collections/{collection_id}/records/{record_id}/cancel', {
        path: path(collectionId, recordId),
      }),
    list: (collectionId: string, query: QueryOf<FilesApi, 'GET /v1/collections/{collection_id}/records'> = {}) =>
      api.json('GET /v1/collections/{collection_id}/records', { path: { collection_id: collectionId }, query }),
    delete: async (collectionId: string, recordId: string) => {
      await api.json('DELETE /v1/collections/{collection_id}/records/{record_id}', {
        path: path(collectionId, recordId),
      });
    },
    /** Returns the first chunks of a record, in order. */
    chunks: (collectionId: string, recordId: string, query: QueryOf<FilesApi, Chunks> = {}) =>
      api.data('GET /v1/collections/{collection_id}/records/{record_id}/chunks', {
        path: path(collectionId, recordId),
        query,
      }),
    /** Returns the skipped rows of a sheet with the reasons. */
    rows: (collectionId: string, recordId: string, query: QueryOf<FilesApi, Rows> = {}) =>
      api.json('GET /v1/collections/{collection_id}/records/{record_id}/rows', {
        path: path(collectionId, recordId),
        query,
      }),
    /** Returns all of these rows as a CSV file to correct and upload again. */
    rowSheet: (collectionId: string, recordId: string, status: QueryOf<FilesApi, Rows>['status'] = 'rejected') =>
      api.send('GET /v1/collections/{collection_id}/records/{record_id}/rows', {
        path: path(collectionId, recordId),
        query: { status, format: 'csv' },
      }),
    /**
     * Follows the events of a record until it is ready, partial or in error. While the key has no free event stream, it reads the
     * status once per second. @returns the final record
     */
    settled: async (collectionId: string, recordId: string, signal?: AbortSignal) => {
      for (;;) {
        const events = await openEvents(api, path(collectionId, recordId), signal);
        // The stream ends at a terminal state; its events are not needed here.
        for await (const _ of events?.body ?? []);
        const record = await records.get(collectionId, recordId);
        if (events !== undefined || record.status !== 'creating') return record;
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      }
    },
  };
  return records;
}

/** Undefined while the key has no free event stream. */
async function openEvents(
  api: Api<FilesApi>,
  path: { collection_id: string; record_id: string },
  signal?: AbortSignal,
): Promise<Response | undefined> {
  try {
    return await api.send('GET /v1/collections/{collection_id}/records/{record_id}/events', { path, signal });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'TOO_MANY_REQUESTS') return undefined;
    throw error;
  }
}

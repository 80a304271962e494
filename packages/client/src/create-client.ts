import {
  type Bundle,
  type Chunk,
  type ChunkQuery,
  type Collection,
  type CollectionCreate,
  type ExecuteRequest,
  type ExecuteResult,
  type File,
  type FileWithReferences,
  type ListQuery,
  type Plugin,
  type Purpose,
  type RecordCreate,
  type RecordItem,
  type RecordPreview,
  type RecordRow,
  type RecordUpdate,
  type RowStatus,
  type ScoredChunk,
  withoutTrailingSlashes,
} from '@quartermaster/contract';
import { ApiError, type Connection, send, sendForJson } from './request.ts';
import { runCalls } from './run-calls.ts';

export interface ClientOptions {
  /** The files address, such as `http://127.0.0.1:8080`. */
  readonly filesUrl: string;
  /** The plugins address, such as `http://127.0.0.1:8081`. */
  readonly pluginsUrl: string;
  readonly apiKey?: string;
  readonly fetch?: typeof fetch;
}

interface Data<T> {
  readonly status: 'success';
  readonly data: T;
}
export interface Page<T> extends Data<T[]> {
  readonly fetched_count: number;
  readonly has_more: boolean;
}

export type Client = ReturnType<typeof createClient>;

/** A typed client of both addresses. Every function throws ApiError when the service refuses. */
export function createClient(options: ClientOptions) {
  const connect = (url: string): Connection => ({
    baseUrl: withoutTrailingSlashes(url),
    apiKey: options.apiKey,
    fetch: options.fetch ?? fetch,
  });
  const files = connect(options.filesUrl);
  const plugins = connect(options.pluginsUrl);
  return {
    files: fileCalls(files),
    collections: collectionCalls(files),
    records: recordCalls(files),
    plugins: pluginCalls(plugins),
    runs: runCalls(plugins),
  };
}

function fileCalls(connection: Connection) {
  return {
    /** Uploads a file. With an idempotency key a repeated call gives the same `file_id`. */
    upload: async (upload: { purpose: Purpose; name: string; content: Blob; idempotencyKey?: string }) => {
      const form = new FormData();
      form.set('purpose', upload.purpose);
      form.set('file', upload.content, upload.name);
      const headers = upload.idempotencyKey === undefined ? undefined : { 'Idempotency-Key': upload.idempotencyKey };
      const call = { method: 'POST', path: '/v1/files', body: form, headers } as const;
      return (await sendForJson<Data<File>>(connection, call)).data;
    },
    list: (query?: ListQuery & { purpose?: Purpose }) =>
      sendForJson<Page<File>>(connection, { method: 'GET', path: '/v1/files', query }),
    get: async (fileId: string) =>
      (await sendForJson<Data<FileWithReferences>>(connection, { method: 'GET', path: `/v1/files/${fileId}` })).data,
    content: (fileId: string) => send(connection, { method: 'GET', path: `/v1/files/${fileId}/content` }),
    delete: async (fileId: string) => {
      await send(connection, { method: 'DELETE', path: `/v1/files/${fileId}` });
    },
  };
}

function collectionCalls(connection: Connection) {
  const path = (collectionId: string) => `/v1/collections/${collectionId}`;
  return {
    create: async (wish: CollectionCreate) =>
      (await sendForJson<Data<Collection>>(connection, { method: 'POST', path: '/v1/collections', body: wish })).data,
    get: async (collectionId: string) =>
      (await sendForJson<Data<Collection>>(connection, { method: 'GET', path: path(collectionId) })).data,
    list: (query?: ListQuery) =>
      sendForJson<Page<Collection>>(connection, { method: 'GET', path: '/v1/collections', query }),
    delete: async (collectionId: string) => {
      await send(connection, { method: 'DELETE', path: path(collectionId) });
    },
    /** The passages that answer a question best, best first. */
    query: async (collectionId: string, query: ChunkQuery) => {
      const call = { method: 'POST', path: `${path(collectionId)}/chunks/query`, body: query } as const;
      return (await sendForJson<Data<ScoredChunk[]>>(connection, call)).data;
    },
  };
}

function recordCalls(connection: Connection) {
  const path = (collectionId: string, recordId = '') => `/v1/collections/${collectionId}/records/${recordId}`;
  const act = async (collectionId: string, place: string, body?: RecordUpdate) =>
    (await sendForJson<Data<RecordItem>>(connection, { method: 'POST', path: path(collectionId, place), body })).data;
  const records = {
    create: async (collectionId: string, wish: RecordCreate) => {
      const call = { method: 'POST', path: path(collectionId).slice(0, -1), body: wish } as const;
      return (await sendForJson<Data<RecordItem>>(connection, call)).data;
    },
    get: async (collectionId: string, recordId: string) =>
      (await sendForJson<Data<RecordItem>>(connection, { method: 'GET', path: path(collectionId, recordId) })).data,
    /** Only reads: what would be made of it, and which rows would be refused. Nothing is kept. */
    preview: async (collectionId: string, wish: RecordCreate, signal?: AbortSignal) => {
      const query = { dry_run: 'true' };
      const call = { method: 'POST', path: path(collectionId).slice(0, -1), query, body: wish, signal } as const;
      return (await sendForJson<Data<RecordPreview>>(connection, call)).data;
    },
    /** Anything but metadata makes the chunks anew; the old ones stay until then. */
    update: (collectionId: string, recordId: string, change: RecordUpdate) => act(collectionId, recordId, change),
    /** Makes the chunks anew from the same source. */
    retry: (collectionId: string, recordId: string) => act(collectionId, `${recordId}/retry`),
    /** Ends the making; a record that is made already stays as it is, as its status tells. */
    cancel: (collectionId: string, recordId: string) => act(collectionId, `${recordId}/cancel`),
    /** Rows of a sheet that became no pair, and why. */
    rows: (collectionId: string, recordId: string, query?: ListQuery & { status?: RowStatus }) => {
      const call = { method: 'GET', path: `${path(collectionId, recordId)}/rows`, query } as const;
      return sendForJson<Page<RecordRow>>(connection, call);
    },
    /** The same rows, all of them and whole, as a CSV to be corrected and uploaded again. */
    rowSheet: (collectionId: string, recordId: string, status: RowStatus = 'rejected') => {
      const query = { status, format: 'csv' };
      return send(connection, { method: 'GET', path: `${path(collectionId, recordId)}/rows`, query });
    },
    list: (collectionId: string, query?: ListQuery) =>
      sendForJson<Page<RecordItem>>(connection, { method: 'GET', path: path(collectionId).slice(0, -1), query }),
    delete: async (collectionId: string, recordId: string) => {
      await send(connection, { method: 'DELETE', path: path(collectionId, recordId) });
    },
    /** The first chunks of a record, in order. */
    chunks: async (collectionId: string, recordId: string, query?: ListQuery) => {
      const call = { method: 'GET', path: `${path(collectionId, recordId)}/chunks`, query } as const;
      return (await sendForJson<Page<Chunk>>(connection, call)).data;
    },
    /**
     * Follows the record's events until it is ready, partial or in error, and gives it then. Reads its status once a second
     * while the key has as many event streams as it may.
     */
    settled: async (collectionId: string, recordId: string, signal?: AbortSignal): Promise<RecordItem> => {
      for (;;) {
        const call = { method: 'GET', path: `${path(collectionId, recordId)}/events`, signal } as const;
        const events = await send(connection, call).catch((error: unknown) => {
          if (error instanceof ApiError && error.code === 'TOO_MANY_REQUESTS') return undefined;
          throw error;
        });
        // The stream ends by itself at a terminal state; what it said on the way is not needed here.
        for await (const _ of events?.body ?? []);
        const record = await records.get(collectionId, recordId);
        if (events !== undefined || record.status !== 'creating') return record;
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    },
  };
  return records;
}

function pluginCalls(connection: Connection) {
  return {
    listBundles: async () => (await sendForJson<Page<Bundle>>(connection, { method: 'GET', path: '/v1/bundles' })).data,
    list: async (bundleId?: string) => {
      const query = { bundle_id: bundleId };
      return (await sendForJson<Page<Plugin>>(connection, { method: 'GET', path: '/v1/plugins', query })).data;
    },
    /** Runs a plugin. @throws ApiError PROVIDER_ERROR, PLUGIN_FAILED, PLUGIN_TIMEOUT … */
    execute: async (request: ExecuteRequest, signal?: AbortSignal) => {
      const call = { method: 'POST', path: '/v1/execute', body: request, signal } as const;
      return (await sendForJson<Data<ExecuteResult>>(connection, call)).data;
    },
    verifyCredentials: async (bundleId: string, credentials: Record<string, unknown>) => {
      const body = { bundle_id: bundleId, credentials };
      await send(connection, { method: 'POST', path: '/v1/verify_credentials', body });
    },
  };
}

import { asPlugins, asResult } from './answers.ts';
import { bearer, readBaseUrl } from './base-url.ts';
import { type Api, type ApiOptions, createApi, type QueryOf } from './create-api.ts';
import { fileCalls } from './file-calls.ts';
import type { ChunkQuery, CollectionCreate, FilesApi } from './generated/files-api.ts';
import type { ExecuteRequest, PluginsApi } from './generated/plugins-api.ts';
import { recordCalls } from './record-calls.ts';
import { runCalls } from './run-calls.ts';

export interface ClientOptions {
  /** The files address, such as `http://127.0.0.1:8080`. */
  readonly filesUrl: string;
  /** The plugins address, such as `http://127.0.0.1:8081`. */
  readonly pluginsUrl: string;
  readonly apiKey?: string;
  readonly fetch?: typeof fetch;
}

export type Client = ReturnType<typeof createClient>;

/** Creates a typed client of both addresses. Every function throws ApiError for an error response. No request is retried. */
export function createClient({ filesUrl, pluginsUrl, apiKey, fetch }: ClientOptions) {
  const connect = (name: string, url: string): ApiOptions => ({
    baseUrl: readBaseUrl(name, url),
    headers: () => (apiKey === undefined ? {} : { Authorization: bearer(apiKey) }),
    ...(fetch === undefined ? {} : { fetch }),
  });
  const filesApi = createApi<FilesApi>(connect('filesUrl', filesUrl));
  const pluginsApi = createApi<PluginsApi>(connect('pluginsUrl', pluginsUrl));
  return {
    files: fileCalls(filesApi),
    collections: collectionCalls(filesApi),
    records: recordCalls(filesApi),
    plugins: pluginCalls(pluginsApi),
    runs: runCalls(pluginsApi),
  };
}

function collectionCalls(api: Api<FilesApi>) {
  const path = (collectionId: string) => ({ collection_id: collectionId });
  return {
    create: (body: CollectionCreate) => api.data('POST /v1/collections', { body }),
    get: (collectionId: string) => api.data('GET /v1/collections/{collection_id}', { path: path(collectionId) }),
    list: (query: QueryOf<FilesApi, 'GET /v1/collections'> = {}) => api.json('GET /v1/collections', { query }),
    delete: async (collectionId: string) => {
      await api.json('DELETE /v1/collections/{collection_id}', { path: path(collectionId) });
    },
    /** Returns the chunks that match a query best, the best first. */
    query: (collectionId: string, body: ChunkQuery) =>
      api.data('POST /v1/collections/{collection_id}/chunks/query', { path: path(collectionId), body }),
  };
}

function pluginCalls(api: Api<PluginsApi>) {
  return {
    listBundles: () => api.data('GET /v1/bundles'),
    list: async (bundleId?: string) => asPlugins(await api.data('GET /v1/plugins', { query: { bundle_id: bundleId } })),
    /** Runs a plugin and waits for its result. @throws ApiError PROVIDER_ERROR, PLUGIN_FAILED, PLUGIN_TIMEOUT … */
    execute: async (body: ExecuteRequest, signal?: AbortSignal) =>
      asResult(await api.data('POST /v1/execute', { body, signal })),
    verifyCredentials: async (bundleId: string, credentials: Readonly<Record<string, unknown>>) => {
      await api.json('POST /v1/verify_credentials', { body: { bundle_id: bundleId, credentials } });
    },
  };
}

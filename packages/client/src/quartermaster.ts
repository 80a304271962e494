import { readBaseUrl } from './base-url.ts';
import type { FilesApi } from './generated/files-api.ts';
import type { PluginsApi } from './generated/plugins-api.ts';
import { type Artifacts, createArtifacts } from './resources/artifacts.ts';
import {
  type Chunks,
  type Collections,
  createChunks,
  createCollections,
  createSearch,
} from './resources/collections.ts';
import { type Connections, createConnections } from './resources/connections.ts';
import { type CredentialProfiles, createCredentialProfiles } from './resources/credential-profiles.ts';
import { createFiles, type Files } from './resources/files.ts';
import { type Bundles, createBundles, createPlugins, type Plugins } from './resources/plugins.ts';
import { createKeys, createProjects, type Keys, type Projects } from './resources/projects.ts';
import { createRecords, type Records } from './resources/records.ts';
import { createRuns, type Runs } from './resources/runs.ts';
import { createService, type Service } from './resources/service.ts';
import { createCalls } from './transport/calls.ts';
import { createTransport } from './transport/transport.ts';

export interface QuartermasterOptions {
  /** The files address, such as `http://127.0.0.1:8080`, with the path prefix of a proxy if there is one. */
  readonly baseUrl: string;
  /** Sent to both addresses. A page should have a key with few scopes, because its visitors can read it. */
  readonly apiKey?: string | undefined;
  /** The plugins address, such as `http://127.0.0.1:8081`. Default: the files address, which also serves plugins to a key. */
  readonly pluginsUrl?: string | undefined;
  /** Milliseconds for each attempt, except for uploads; 0: no limit. Default: 60,000. */
  readonly timeout?: number | undefined;
  /** Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Sends every request instead of the global `fetch`, for example through a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

/**
 * A client of both addresses of a Quartermaster service.
 *
 * Each method sends its request immediately and returns a promise; `.withResponse()` adds the response and the request
 * id. Lists can be awaited for one page, or iterated with `for await` for all items. Failures are QuartermasterErrors:
 * ApiError and its classes for error responses, ConnectionError and TimeoutError when there is none. Responses and
 * their types are those of the OpenAPI documents.
 */
export class Quartermaster {
  readonly files: Files;
  readonly collections: Collections;
  readonly records: Records;
  readonly chunks: Chunks;
  /** Finds the chunks of a collection that answer a question, the best first. */
  readonly search: ReturnType<typeof createSearch>;
  readonly bundles: Bundles;
  readonly plugins: Plugins;
  readonly runs: Runs;
  readonly artifacts: Artifacts;
  readonly connections: Connections;
  readonly credentialProfiles: CredentialProfiles;
  readonly projects: Projects;
  readonly keys: Keys;
  /** The state of the files address. `plugins.service` is that of the plugins address. */
  readonly service: Service;

  /** @throws TypeError when a URL or the key is malformed */
  constructor({ baseUrl, apiKey, pluginsUrl, timeout = 60_000, maxRetries = 2, fetch }: QuartermasterOptions) {
    const shared = { apiKey, timeout, maxRetries, fetch };
    const filesTransport = createTransport({ name: 'baseUrl', baseUrl, ...shared });
    const pluginsBase = pluginsUrl ?? `${readBaseUrl('baseUrl', baseUrl)}/plugins`;
    const pluginsTransport = createTransport({ name: 'pluginsUrl', baseUrl: pluginsBase, ...shared });
    const files = createCalls<FilesApi>(filesTransport);
    const plugins = createCalls<PluginsApi>(pluginsTransport);
    this.files = createFiles(files, { hasOwnFetch: fetch !== undefined });
    this.collections = createCollections(files);
    this.records = createRecords(files);
    this.chunks = createChunks(files);
    this.search = createSearch(files);
    this.bundles = createBundles(plugins);
    this.runs = createRuns(plugins);
    this.plugins = createPlugins(plugins, { runs: this.runs, service: createService(pluginsTransport) });
    this.artifacts = createArtifacts(plugins);
    this.connections = createConnections(plugins);
    this.credentialProfiles = createCredentialProfiles(plugins);
    this.projects = createProjects(files);
    this.keys = createKeys(files);
    this.service = createService(filesTransport);
  }
}

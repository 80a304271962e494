import type { QueryOf } from '../create-api.ts';
import type { ExecuteResult, Plugin, PluginDefinition, PluginsApi, Run } from '../generated/plugins-api.ts';
import type { ApiList, ApiRequest, Page } from '../transport/api-request.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';
import { type RunRequest, type Runs, toRunRequest } from './runs.ts';
import type { Service } from './service.ts';

/** Values by name, such as the inputs of a plugin or the credentials of its bundle. */
export type Values = Readonly<Record<string, unknown>>;

export interface RunOptions extends RequestOptions {
  /** Used for this run and not stored. `{ $profile: 'name' }` uses a credential profile. Default: none. */
  readonly credentials?: Values | undefined;
}

/** The formats of a list of tools. */
export type DefinitionFormat = PluginDefinition['format'];

type PluginsQuery = Omit<QueryOf<PluginsApi, 'GET /v1/plugins'>, 'format'>;
type BundlesQuery = QueryOf<PluginsApi, 'GET /v1/bundles'>;
type LanguageQuery = QueryOf<PluginsApi, 'GET /v1/bundles/{bundle_id}'>;

/** The items of a page when the caller does not choose. */
const pageSize = 100;

export type Bundles = ReturnType<typeof createBundles>;
export type Plugins = ReturnType<typeof createPlugins>;

export function createBundles(calls: Calls<PluginsApi>) {
  const path = (bundleId: string) => ({ bundle_id: bundleId });
  return {
    /** Lists all bundles; with `q`, `limit`, `after` or `before` one page of them. */
    list: (query: BundlesQuery = {}, options: RequestOptions = {}) => calls.data('GET /v1/bundles', { query }, options),
    /** Lists bundles in pages: `for await (const bundle of bundles.pages({ q: 'weather' }))`. */
    pages: (query: BundlesQuery = {}, options: RequestOptions = {}) =>
      calls.list('GET /v1/bundles', { query: { limit: pageSize, ...query } }, (bundle) => bundle.bundle_id, options),
    /** Returns a bundle in `bundle` and its plugins in `data`. */
    get: (bundleId: string, query: LanguageQuery = {}, options: RequestOptions = {}) =>
      calls.json('GET /v1/bundles/{bundle_id}', { path: path(bundleId), query }, options),
    /** Returns an OpenAPI document with one operation for each plugin of the bundle. */
    openApi: (bundleId: string, query: LanguageQuery = {}, options: RequestOptions = {}) =>
      calls.json('GET /v1/bundles/{bundle_id}/openapi.json', { path: path(bundleId), query }, options),
    icon: (bundleId: string, options: RequestOptions = {}) =>
      calls.raw('GET /v1/bundles/{bundle_id}/icon', { path: path(bundleId) }, options),
  };
}

/**
 * Plugins are named by their bundle and their id: `open_weather/get_current_weather`. `run` and `start` also take the name of the
 * tool that a model called, such as `open_weather__get_current_weather`.
 */
export function createPlugins(calls: Calls<PluginsApi>, { runs, service }: { runs: Runs; service: Service }) {
  const execute = (
    plugin: string,
    input: Values,
    credentials: Values,
    headers: { prefer?: string },
    options: RequestOptions,
  ) => {
    const body = { ...nameOf(plugin), input_params: input, credentials };
    return calls.data('POST /v1/execute', { body, headers }, options);
  };
  return {
    /** Lists the plugins of all bundles, or of one; with `q`, `limit`, `after` or `before` one page of them. */
    list: (query: PluginsQuery = {}, options: RequestOptions = {}) =>
      calls.data('GET /v1/plugins', { query }, options) as unknown as ApiRequest<Plugin[]>, // the type without `format`
    /** Lists plugins in pages: `for await (const plugin of plugins.pages({ q: 'weather forecast' }))`. */
    pages: (query: PluginsQuery = {}, options: RequestOptions = {}) => {
      const request = { query: { limit: pageSize, ...query } };
      const list = calls.list(
        'GET /v1/plugins',
        request,
        (plugin) => `${plugin.bundle_id}/${plugin.plugin_id}`,
        options,
      );
      return list as unknown as ApiList<Plugin, Page<Plugin>>; // the type without `format`
    },
    /** Lists the plugins as the tools of a provider of models. */
    definitions: (format: DefinitionFormat, query: PluginsQuery = {}, options: RequestOptions = {}) =>
      calls.data('GET /v1/plugins', { query: { ...query, format } }, options) as unknown as ApiRequest<
        PluginDefinition[]
      >, // the type with `format`
    get: (plugin: string, query: LanguageQuery = {}, options: RequestOptions = {}) =>
      calls.data('GET /v1/plugins/{bundle_id}/{plugin_id}', { path: splitName(plugin), query }, options),
    /**
     * Runs a plugin and waits for its result: `data` holds the output. Integers beyond 2^53 arrive as text with all their
     * digits, because JavaScript would round the numbers. @throws ApiError PROVIDER_REJECTED, PROVIDER_RATE_LIMITED,
     * PROVIDER_ERROR, PLUGIN_FAILED, PLUGIN_TIMEOUT …
     */
    run: (plugin: string, input: Values, { credentials = {}, ...options }: RunOptions = {}) =>
      execute(plugin, input, credentials, {}, options) as ApiRequest<ExecuteResult>, // the type without `prefer`
    /** Starts a run that the service stores: `await plugins.start(…).wait()`. */
    start: (plugin: string, input: Values, { credentials = {}, ...options }: RunOptions = {}): RunRequest =>
      toRunRequest(execute(plugin, input, credentials, { prefer: 'respond-async' }, options) as ApiRequest<Run>, runs),
    /** Runs a plugin and returns its output alone. */
    output: (plugin: string, input: Values, { credentials, ...options }: RunOptions = {}): ApiRequest<unknown> => {
      const headers = credentials === undefined ? {} : credentialHeaders(credentials);
      const endpoint = 'POST /v1/bundles/{bundle_id}/plugins/{plugin_id}/execute';
      return calls.json(endpoint, { path: splitName(plugin), headers, body: { ...input } }, options);
    },
    /** Lets the third party check the credentials of a bundle. @throws AuthenticationError CREDENTIALS_VALIDATION_ERROR */
    verifyCredentials: (bundleId: string, credentials: Values, options: RequestOptions = {}) =>
      calls.done('POST /v1/verify_credentials', { body: { bundle_id: bundleId, credentials } }, options),
    /** Lists the values of an input that the third party knows, one of `choices` of the plugin. */
    listOptions: (
      plugin: string,
      property: string,
      input: Values = {},
      { credentials = {}, search, ...options }: RunOptions & { readonly search?: string } = {},
    ) => {
      const body = {
        property,
        input_params: { ...input },
        credentials: { ...credentials },
        ...(search === undefined ? {} : { search }),
      };
      return calls.data('POST /v1/plugins/{bundle_id}/{plugin_id}/options', { path: splitName(plugin), body }, options);
    },
    /** The state of the plugins address. */
    service,
  };
}

/** The name of a tool has two underscores between bundle and plugin. */
function nameOf(plugin: string) {
  return plugin.includes('/') || !plugin.includes('__') ? splitName(plugin) : { tool_name: plugin };
}

function splitName(plugin: string): { bundle_id: string; plugin_id: string } {
  const [bundle_id = '', plugin_id = '', ...rest] = plugin.split('/');
  if (bundle_id === '' || plugin_id === '' || rest.length > 0) {
    throw new TypeError('A plugin must be named by its bundle and its id, such as "calculator/evaluate".');
  }
  return { bundle_id, plugin_id };
}

function credentialHeaders(credentials: Values) {
  const { $profile } = credentials;
  return typeof $profile === 'string'
    ? { 'x-plugin-profile': $profile }
    : { 'x-plugin-credentials': encodeCredentials(credentials) };
}

/** Returns base64url of the JSON in UTF-8. */
function encodeCredentials(credentials: Values): string {
  const bytes = new TextEncoder().encode(JSON.stringify(credentials));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

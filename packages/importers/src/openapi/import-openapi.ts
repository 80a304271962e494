import type { BundleManifest, Injection } from '@quartermaster/plugin-kit';
import { isJson, type Json, memberOf, type OpenApiDocument, type SchemaChecks, textOf } from './document.ts';
import { freeName, freePluginId, snakeCase } from './names.ts';
import { type ImportedOperation, importOperation, type Operation } from './operation.ts';
import { readDocument } from './read-document.ts';
import { type Credentials, createCredentials } from './security.ts';
import { createServers } from './servers.ts';

export type { SchemaChecks };

export interface ImportOptions {
  /** The id of the bundle. Default: derived from the document's title. */
  readonly id?: string | undefined;
  /** The URL of the API, in the place of those that the document names. */
  readonly server?: string | undefined;
  /** Where the document comes from. Relative URLs refer to it. */
  readonly address?: string | undefined;
  /** The operations to import, by `operationId` or plugin id. */
  readonly operations?: readonly string[] | undefined;
  /** Plugin ids by `operationId` or by their default. */
  readonly rename?: Readonly<Record<string, string>> | undefined;
}

export interface ImportedBundle {
  readonly bundle: Json & { readonly id: string };
  /** The manifests by plugin id. */
  readonly plugins: ReadonlyMap<string, Json>;
  readonly report: ImportReport;
  /** The name that the document states. */
  readonly licence?: string | null;
  /** That of the API. Default: `provider`. */
  readonly host?: string;
}

export interface ImportReport {
  readonly title: string;
  readonly openapi: string;
  readonly operations: number;
  readonly imported: ReadonlyArray<{
    readonly operation: string;
    readonly plugin_id: string;
    readonly notes: readonly string[];
  }>;
  readonly skipped: ReadonlyArray<{ readonly operation: string; readonly reason: string }>;
  readonly notes: readonly string[];
}

/**
 * Converts an OpenAPI document (2.0, 3.0 or 3.1; JSON or YAML) to a bundle of declarative plugins. It reads only the text. The
 * report lists every operation that was not imported, with the reason.
 * @throws Error when the document is unreadable or no operation can be imported
 */
export function importOpenApi(text: string, checks: SchemaChecks, options: ImportOptions = {}): ImportedBundle {
  const document = readDocument(text, checks);
  const servers = createServers(document, options);
  const credentials = createCredentials(document, servers.base);
  const plugins = new Map<string, ImportedOperation>();
  const imported: Array<ImportReport['imported'][number]> = [];
  const skipped: Array<ImportReport['skipped'][number]> = [];
  const all = operationsOf(document);
  for (const operation of all) {
    const name = `${operation.method.toUpperCase()} ${operation.path}`;
    const wanted = nameOf(operation, options, plugins);
    if (wanted === null) {
      skipped.push({ operation: name, reason: 'not chosen' });
      continue;
    }
    const result = importOperation(operation, { document, credentials, servers });
    if ('reason' in result) skipped.push({ operation: name, reason: result.reason });
    else {
      plugins.set(wanted, result);
      imported.push({ operation: name, plugin_id: wanted, notes: result.notes });
    }
  }
  if (plugins.size === 0)
    throw new Error(`No operation of ${all.length} can be imported: ${skipped[0]?.reason ?? 'the document has none'}.`);
  const mayRefuse = all.some(({ operation }) => memberOf(operation.responses, '401') !== undefined);
  if (mayRefuse && Object.keys(credentials.properties).length === 0) credentials.notes.add(noCredentials);
  const bundle = buildBundle(document, { options, credentials, plugins });
  return {
    ...bundle,
    licence: textOf(memberOf(memberOf(document.root.info, 'license'), 'name')).slice(0, 100) || null,
    report: {
      title: titleOf(document),
      openapi: document.version,
      operations: all.length,
      imported,
      skipped,
      notes: [...servers.notes, ...credentials.notes, ...bundle.notes],
    },
  };
}

const noCredentials =
  'The document describes no credentials, but the API can answer 401. If it needs any, add "credentials_schema" and "inject".';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export function operationsOf(document: OpenApiDocument): Operation[] {
  const paths = isJson(document.root.paths) ? Object.entries(document.root.paths) : [];
  return paths.flatMap(([path, value]) => {
    const item = document.follow(value);
    if (!isJson(item)) return [];
    return methods.flatMap((method) => {
      const operation = item[method];
      return isJson(operation) ? [{ method, path, item, operation }] : [];
    });
  });
}

/** The plugin id of an operation; null when the operation is not selected. */
function nameOf(
  { method, path, operation }: Operation,
  options: ImportOptions,
  taken: ReadonlyMap<string, unknown>,
): string | null {
  const operationId = textOf(operation.operationId);
  const pluginId = snakeCase(operationId === '' ? `${method}_${path}` : operationId);
  const { operations, rename } = options;
  if (operations !== undefined && !operations.includes(operationId) && !operations.includes(pluginId)) return null;
  const renamed = textOf(memberOf(rename, operationId)) || textOf(memberOf(rename, pluginId));
  // The id of a person stays, so that an error names it.
  if (renamed !== '') return freeName(renamed, (id) => taken.has(id) || id === 'bundle');
  return freePluginId(pluginId, taken);
}

export function titleOf(document: OpenApiDocument): string {
  return textOf(Reflect.get(Object(document.root.info), 'title')) || 'Imported API';
}

interface Parts {
  readonly options: ImportOptions;
  readonly credentials: Credentials;
  readonly plugins: ReadonlyMap<string, ImportedOperation>;
}

function buildBundle(document: OpenApiDocument, { options, credentials, plugins }: Parts) {
  const info = Object(document.root.info);
  const title = titleOf(document);
  const list = [...plugins.values()];
  const shared = sharedInjections(list);
  const names = Object.keys(credentials.properties);
  const needed = names.filter((name) => list.every((plugin) => plugin.needed.has(name)));
  const id = options.id ?? snakeCase(title);
  const notes: string[] = [];
  const manifest = {
    id,
    version: versionOf(textOf(info.version)),
    name: title.slice(0, 120),
    description: (textOf(info.description) || title).slice(0, 4_000),
    provider: new URL(`https://${list[0]?.host ?? ''}`).hostname,
    developer: 'Imported from OpenAPI',
    hosts: [...new Set([...list.map(({ host }) => host), ...list.flatMap(tokenHosts)])].sort(),
    ...(names.length === 0
      ? {}
      : {
          credentials_schema: {
            type: 'object',
            ...(needed.length === 0 ? {} : { required: needed }),
            properties: { ...credentials.properties },
          },
        }),
    ...(shared.length === 0 ? {} : { inject: [...shared] }),
  } satisfies Omit<BundleManifest, 'credentials_schema'> & { credentials_schema?: object };
  const manifests = [...plugins].map(([pluginId, operation]) => {
    const inject = operation.inject.filter((one) => !shared.some((other) => isSame(one, other)));
    const secure = [...shared, ...inject].length > 0;
    return [pluginId, pluginManifest(pluginId, operation, { inject, secure, notes })] as const;
  });
  return { bundle: manifest, plugins: new Map<string, Json>(manifests), notes: [...new Set(notes)] };
}

/** The hosts of token endpoints, which the bundle must declare too. */
function tokenHosts({ inject }: ImportedOperation): string[] {
  return inject.flatMap((one) => (one.in === 'oauth2' ? [new URL(one.token_url).host] : []));
}

function pluginManifest(
  id: string,
  { plugin }: ImportedOperation,
  { inject, secure, notes }: { inject: readonly Injection[]; secure: boolean; notes: string[] },
): Json {
  const { request, ...rest } = plugin;
  const url = String(request.url);
  const isUnsafe = secure && url.startsWith('http:');
  if (isUnsafe) notes.push(`${new URL(url).origin} is called by https:, since credentials are sent there.`);
  const safeUrl = isUnsafe ? url.replace(/^http:/, 'https:') : url;
  return { id, ...rest, request: { ...request, url: safeUrl, ...(inject.length === 0 ? {} : { inject }) } };
}

/** The injections of all plugins, which the bundle declares. The requests declare the others. */
function sharedInjections([first, ...others]: readonly ImportedOperation[]): readonly Injection[] {
  return (first?.inject ?? []).filter((one) =>
    others.every(({ inject }) => inject.some((other) => isSame(one, other))),
  );
}

function isSame(a: Injection, b: Injection): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function versionOf(text: string): string {
  const [, major = '1', minor = '0', patch = '0'] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? [];
  return `${Number(major)}.${Number(minor)}.${Number(patch)}`;
}

import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { isDiscovery, openApiOf } from '../packages/importers/src/openapi/discovery.ts';

/** Names of documents that differ from the name of the piece. */
const otherNames: Readonly<Record<string, string>> = {
  'google-contacts': 'google-people',
  'microsoft-outlook': 'msgraph-mail',
  'microsoft-outlook-calendar': 'msgraph-calendar',
};

/**
 * Finds the documents of a service: `trello.json`, `twilio-api.json`. Where the folder has a `manifest.jsonl`, it leaves out those that
 * others wrote.
 */
export async function documentsOf(service: string, folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true });
  const foreign = new Set<string>();
  for (const manifest of all.filter((name) => basename(name) === 'manifest.jsonl')) {
    const lines = (await readFile(join(folder, manifest), 'utf8')).split('\n').filter((line) => line !== '');
    for (const { file, official, note = '' } of lines.map((line) => JSON.parse(line))) {
      if (official !== true && !/^(copy|mirror)/.test(note)) foreign.add(file);
    }
  }
  const wanted = otherNames[service] ?? service;
  const isOwn = (name: string) => /\.(json|ya?ml)$/.test(name) && new RegExp(`^${wanted}[.-]`).test(name);
  return all.filter((name) => isOwn(basename(name)) && !foreign.has(basename(name))).map((name) => join(folder, name));
}

/** Reads an OpenAPI document, a Swagger document, or a Discovery document of Google. */
export async function readDocument(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8');
  const document: unknown = file.endsWith('.json') ? JSON.parse(text) : parse(text);
  return isDiscovery(document)
    ? loosened(JSON.parse(JSON.stringify(openApiOf(Object(document)), withoutBytes)))
    : document;
}

/** Google's `byte` is base64url, which the format of OpenAPI does not allow, and a key of the API takes the place of OAuth. */
function withoutBytes(name: string, value: unknown): unknown {
  if (name === 'security') return undefined;
  const { format, pattern, ...schema } = Object(value);
  return format === 'byte' ? schema : value;
}

/** Also accepts the common address of Google's services, and uploads with metadata. */
function loosened(document: Record<string, unknown>): Record<string, unknown> {
  const paths = Object.entries<object>(Object(document.paths)).map(([path, item]) => {
    const { post, put, patch } = Object(item);
    for (const operation of path.startsWith('/upload/') ? [post, put, patch] : []) {
      if (operation === undefined) continue;
      operation.requestBody.content['*/*'] = { schema: {} };
      operation.parameters = operation.parameters.filter(({ name }: { name: string }) => name !== 'uploadType');
    }
    return [path, item] as const;
  });
  const servers = [document.servers, { url: 'https://www.googleapis.com/' }].flat();
  return { ...document, servers, paths: Object.fromEntries(paths.filter(([path]) => !path.includes('#'))) };
}

/** Matches the addresses of the document's servers. Their variables match a part of the host or a segment. Undefined if it has none. */
export function baseOf(document: unknown): RegExp | undefined {
  const { openapi, swagger, servers = [], host, basePath = '' } = Object(document);
  if (openapi === undefined && swagger === undefined) return undefined;
  const urls: unknown[] = swagger === undefined ? servers.map((one: unknown) => Object(one).url) : [host + basePath];
  const patterns = urls
    .map((url) =>
      String(url)
        .replace(/^(https?:)?\/\//, '')
        .replace(/\/$/, ''),
    )
    .filter((url) => url !== '' && !url.startsWith('/') && !url.startsWith('undefined'))
    .map((url) => url.replaceAll(/[.?+*^$()[\]|]/g, '\\$&').replaceAll(/\{[^}]*\}/g, '[^/]+'));
  return patterns.length === 0 ? undefined : new RegExp(`^https://(?:${patterns.join('|')})(?=[/?]|$)`);
}

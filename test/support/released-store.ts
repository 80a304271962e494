import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { consoleTokenHeader, type NewSession } from '@quartermaster/contract';
import { cookieOf } from './administrator.ts';
import type { Ending, StartedService } from './service.ts';

/**
 * The contents of the stores in `test/fixtures/store-<commit>`: what was stored, and what that commit found in them.
 */
export interface ReleasedStore {
  /** Keys of the projects in the store, by name. */
  readonly keys: Readonly<Record<'first' | 'filesOnly' | 'revoked' | 'second', string>>;
  readonly administrator: { readonly name: string; readonly password: string };
  readonly questions: readonly Question[];
  /** The result of `lookAround`. */
  readonly found: unknown;
}

export interface Question {
  readonly collectionId: string;
  readonly query: { readonly query_text: string; readonly filters?: unknown };
}

/** The key of every copy of these stores. It is used only in tests. */
export const releasedEncryptionKey = Buffer.alloc(32, 'released store').toString('base64url');

/**
 * Returns the settings that the stores need. Their third party is a server of the test, and no run is old enough to be
 * removed.
 */
export function releasedSettings(upstream: string): Record<string, string> {
  return {
    SEALING_KEY: releasedEncryptionKey,
    EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': upstream }),
    EMBEDDING_PROVIDER: 'hash',
    EMBEDDING_DIMENSIONS: '64',
    RUN_DAYS: '3650',
  };
}

/** Starts a third party that answers with the hash of the received token, which no response may repeat. */
export async function startUpstream(t: Ending): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ token: hashOf(request.headers.authorization ?? '') }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function hashOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

type Packed = Record<string, { readonly base64: string } | { readonly link: string }>;

/**
 * Packs the contents and symbolic links below `folder` into one compressed file, except files that a start writes
 * again.
 */
export async function packFolder(folder: string, isKept: (path: string) => boolean): Promise<Buffer> {
  const packed: Packed = {};
  const links: string[] = [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    // The recursive list follows symbolic links, so it skips the paths below them.
    if (!isKept(path) || links.some((link) => path.startsWith(`${link}/`))) continue;
    if (entry.isSymbolicLink()) links.push(path);
    if (entry.isSymbolicLink()) packed[path] = { link: await readlink(join(folder, path)) };
    if (entry.isFile()) packed[path] = { base64: (await readFile(join(folder, path))).toString('base64') };
  }
  return gzipSync(JSON.stringify(packed), { level: 9 });
}

/** Unpacks a file of `packFolder`. */
export async function unpackFolder(bytes: Uint8Array, folder: string): Promise<void> {
  for (const [path, entry] of Object.entries(JSON.parse(gunzipSync(bytes).toString()) as Packed)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    if ('link' in entry) await symlink(entry.link, target);
    else await writeFile(target, Buffer.from(entry.base64, 'base64'));
    if (!('link' in entry)) await chmod(target, 0o600);
  }
}

/** The members of responses that are compared. A later version may add others. */
const members = {
  project: ['project_id', 'name', 'created_timestamp'],
  key: ['key_id', 'name', 'hint', 'scopes', 'state', 'created_timestamp', 'expires_timestamp', 'revoked_timestamp'],
  file: ['file_id', 'file_name', 'purpose', 'bytes', 'sha256', 'created_timestamp'],
  collection: [
    ...['collection_id', 'name', 'description', 'type', 'num_records', 'num_chunks', 'capacity', 'metadata', 'status'],
    ...['embedding_model_id', 'embedding_size', 'vectors', 'created_timestamp'],
  ],
  record: [
    ...['record_id', 'title', 'type', 'status', 'num_chunks', 'content', 'metadata', 'error', 'report'],
    ...['created_timestamp', 'updated_timestamp'],
  ],
  row: ['row_id', 'status', 'sheet', 'row', 'column', 'code', 'excerpt'],
  chunk: ['chunk_id', 'record_id', 'content', 'question', 'answer', 'num_tokens', 'metadata', 'locator'],
  run: [
    ...['run_id', 'bundle_id', 'plugin_id', 'origin', 'isolation', 'asynchronous', 'status', 'outcome', 'error_code'],
    ...['created_timestamp', 'input_params', 'result'],
  ],
  profile: ['credential_profile_id', 'name', 'bundle_id', 'created_timestamp', 'updated_timestamp'],
} as const;
type Item = Record<string, unknown>;

function pick(kind: keyof typeof members, item: Item): Item {
  return Object.fromEntries(members[kind].filter((name) => name in item).map((name) => [name, item[name]]));
}

/** Returns everything in the store as clients see it. The result is the same for every version. */
export async function lookAround(
  service: StartedService,
  { keys, administrator, questions }: Omit<ReleasedStore, 'found'>,
): Promise<unknown> {
  const { filesUrl, pluginsUrl } = service;
  return {
    projects: await lookAtProjects(filesUrl, administrator),
    keys: await statusesOf(service, keys),
    stores: { first: await lookAtStores(filesUrl, keys.first), second: await lookAtStores(filesUrl, keys.second) },
    passages: await firstPassages(filesUrl, keys.first, questions),
    profiles: await lookAtProfiles(pluginsUrl, keys.first),
    tokenOfProfile: ((await execute(pluginsUrl, keys.first, withProfile)).data as Item | undefined)?.data,
    runs: await lookAtRuns(pluginsUrl, keys.first),
  };
}

export const withProfile = {
  bundle_id: 'released',
  plugin_id: 'who',
  input_params: {},
  credentials: { $profile: 'production' },
};

/** Returns the projects as the signed-in administrator sees them. */
async function lookAtProjects(filesUrl: string, body: ReleasedStore['administrator']): Promise<unknown> {
  const answer = await fetch(`${filesUrl}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { data } = (await answer.json()) as { data: Partial<NewSession> };
  // Earlier versions have no second token and ignore the header.
  const session = { cookie: cookieOf(answer), [consoleTokenHeader]: data.console_token ?? '' };
  const projects: unknown[] = [];
  for (const project of await every(`${filesUrl}/v1/projects`, session, 'project_id')) {
    const keys = await every(`${filesUrl}/v1/projects/${project.project_id}/keys`, session, 'key_id');
    projects.push({ ...pick('project', project), keys: keys.map((key) => pick('key', key)) });
  }
  return projects;
}

async function firstPassages(filesUrl: string, key: string, questions: readonly Question[]): Promise<unknown[]> {
  const passages: unknown[] = [];
  for (const { collectionId, query } of questions) {
    const url = `${filesUrl}/v1/collections/${collectionId}/chunks/query`;
    const { body } = await ask(url, key, { method: 'POST', body: { ...query, top_k: 1 } });
    passages.push({ asked: query.query_text, first: (body.data as Item[]).map((chunk) => pick('chunk', chunk)) });
  }
  return passages;
}

async function statusesOf({ filesUrl, pluginsUrl }: StartedService, keys: ReleasedStore['keys']): Promise<unknown> {
  const statuses = Object.entries(keys).map(async ([name, key]) => [
    name,
    (await ask(`${filesUrl}/v1/files`, key)).status,
    (await ask(`${filesUrl}/v1/projects`, key)).status,
    (await ask(`${pluginsUrl}/v1/runs`, key)).status,
  ]);
  return await Promise.all(statuses);
}

async function lookAtStores(filesUrl: string, key: string): Promise<unknown> {
  const headers = bearer(key);
  const files: unknown[] = [];
  for (const file of await every(`${filesUrl}/v1/files`, headers, 'file_id')) {
    const answer = await fetch(`${filesUrl}/v1/files/${file.file_id}/content`, { headers });
    const content = hashOf(new Uint8Array(await answer.arrayBuffer()));
    files.push({ ...pick('file', file), content: `${answer.status} ${content}` });
  }
  const collections: unknown[] = [];
  for (const collection of await every(`${filesUrl}/v1/collections`, headers, 'collection_id')) {
    const url = `${filesUrl}/v1/collections/${collection.collection_id}`;
    const records: unknown[] = [];
    for (const record of await every(`${url}/records`, headers, 'record_id')) {
      const place = `${url}/records/${record.record_id}`;
      const rows = record.type === 'qa_sheet' ? await every(`${place}/rows`, headers, 'row_id') : [];
      const chunks = await every(`${place}/chunks`, headers, 'chunk_id');
      records.push({
        ...pick('record', record),
        rows: rows.map((row) => pick('row', row)),
        chunks: chunks.map((chunk) => pick('chunk', chunk)),
      });
    }
    const chunks = (await every(`${url}/chunks`, headers, 'chunk_id')).map((chunk) => pick('chunk', chunk));
    collections.push({ ...pick('collection', collection), records, chunks });
  }
  return { files, collections };
}

async function lookAtProfiles(pluginsUrl: string, key: string): Promise<unknown> {
  const profiles = await every(`${pluginsUrl}/v1/credential_profiles`, bearer(key), 'credential_profile_id');
  return profiles.map((profile) => pick('profile', profile));
}

/** Returns the runs that the store had when it was created, without the newer runs of each comparison. */
async function lookAtRuns(pluginsUrl: string, key: string): Promise<unknown[]> {
  const runs: unknown[] = [];
  for (const { run_id } of await every(`${pluginsUrl}/v1/runs`, bearer(key), 'run_id')) {
    const { body } = await ask(`${pluginsUrl}/v1/runs/${run_id}`, key);
    const run = pick('run', body.data as Item);
    if (run.plugin_id !== withProfile.plugin_id) runs.push(run);
  }
  return runs;
}

/** Runs a plugin and returns the response. */
export async function execute(pluginsUrl: string, key: string, request: object, headers: Record<string, string> = {}) {
  return (await ask(`${pluginsUrl}/v1/execute`, key, { method: 'POST', body: request, headers })).body;
}

const bearer = (key: string | null): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` });

export async function ask(
  url: string,
  key: string | null,
  options: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Item }> {
  const { method = 'GET', body, headers } = options;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(url, {
    method,
    headers: { ...bearer(key), ...type, ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Item };
}

/** Returns all pages of a list, oldest first. */
async function every(url: string, headers: Record<string, string>, id: string): Promise<Item[]> {
  const all: Item[] = [];
  for (;;) {
    const after = all.at(-1)?.[id];
    const cursor = after === undefined ? '' : `&after=${after}`;
    const { status, body } = await ask(`${url}?order=asc&limit=100${cursor}`, null, { headers });
    if (status !== 200) throw new Error(`${url}: ${JSON.stringify(body)}`);
    const data = body.data as Item[];
    all.push(...data);
    if (body.has_more !== true || data.length === 0) return all;
  }
}

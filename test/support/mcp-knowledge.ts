import assert from 'node:assert/strict';
import type { RecordCreate } from '@quartermaster/contract';
import { settledRecord } from './client.ts';
import { runCommand } from './run-command.ts';
import type { StartedService } from './service.ts';

// biome-ignore lint/suspicious/noExplicitAny: the answers of many methods
export type Answer = any;

const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

/** Sends one MCP request without a library. Returns the HTTP status and the JSON-RPC answer, or the error envelope. */
export async function askMcp(url: string, key: string | null, method: string, params: object = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(key === null ? {} : { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const body: Answer = JSON.parse(await response.text());
  return { status: response.status, body };
}

/** Calls a tool. Returns the whole result. */
export async function callTool(url: string, key: string, name: string, input: object = {}): Promise<Answer> {
  const { body } = await askMcp(url, key, 'tools/call', { name, arguments: input });
  return body.result ?? body;
}

export interface Library {
  readonly collectionId: string;
  readonly recordId: string;
}

/** Stores a document in a new collection and waits until it can be searched. */
export async function addDocument(
  { client }: Pick<StartedService, 'client'>,
  {
    name = 'library',
    ...record
  }: Pick<RecordCreate, 'title' | 'metadata' | 'text_splitter'> & { readonly name?: string; readonly content: string },
): Promise<Library> {
  const { collection_id: collectionId } = await client.collections.create({ name });
  const { record_id: recordId } = await client.records.create(collectionId, record);
  await settledRecord(client, collectionId, recordId);
  return { collectionId, recordId };
}

/** Creates a key with the command line. */
export async function createKey(service: StartedService, project: string, scopes: string): Promise<string> {
  const { output, errors } = await runCommand(service, 'key', 'create', project, '--name', scopes, '--scopes', scopes);
  const [key] = /qmk_\S+/.exec(output) ?? [];
  assert.ok(key !== undefined, errors);
  return key;
}

/** Creates a chunk without a record. */
export async function addChunk(
  { filesUrl, key }: StartedService,
  collectionId: string,
  chunk: object,
): Promise<Answer> {
  const response = await fetch(`${filesUrl}/v1/collections/${collectionId}/chunks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(chunk),
  });
  assert.equal(response.status, 200);
  return ((await response.json()) as Answer).data;
}

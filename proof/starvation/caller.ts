import { setTimeout as pause } from 'node:timers/promises';
import type { StartedService } from '../../test/support/service.ts';

/** A client of the service with a key of its own, or without a key. */
export interface Caller {
  /** Sends a request and reads the whole response. Rejects after `timeoutMs`, and when the caller leaves. */
  ask(request: Asked): Promise<Answer>;
  /** @returns the file id */
  upload(name: string, content: Uint8Array, purpose?: string): Promise<string>;
  /** @returns the collection id */
  createCollection(): Promise<string>;
  /** Creates a record. @returns its path */
  createRecord(collectionId: string, fileId: string, more?: object): Promise<string>;
  /** Creates a key of the caller's project with the scopes of a user. */
  createKey(projectId: string): Promise<string>;
  /** Waits until a record has ended. @returns its status */
  settle(recordPath: string): Promise<string>;
  execute(plugin: string, input: object, more?: Partial<Asked>): Promise<Answer>;
}

export interface Asked {
  readonly address?: 'files' | 'plugins';
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value is sent as JSON. */
  readonly json?: unknown;
  readonly body?: Uint8Array<ArrayBuffer> | FormData | ReadableStream;
  /** Reads the beginning of an endless response, and ends it. */
  readonly untilFirstBytes?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface CallerOptions {
  /** null: without a key. */
  readonly key: string | null;
  /** Ends every request of the caller. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

const pollMs = 25;

export function createCaller(
  service: Pick<StartedService, 'filesUrl' | 'pluginsUrl'>,
  { key, signal, timeoutMs = 600_000 }: CallerOptions,
): Caller {
  async function ask(asked: Asked): Promise<Answer> {
    const { address = 'files', method = 'GET', path, headers = {}, json, body, untilFirstBytes = false } = asked;
    const response = await fetch(`${address === 'files' ? service.filesUrl : service.pluginsUrl}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body ?? (json === undefined ? null : JSON.stringify(json)),
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    }).catch((cause: unknown) => {
      throw new Error(`${method} ${path}: ${describe(cause)}`, { cause });
    });
    if (!untilFirstBytes) return { status: response.status, text: await response.text() };
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    await reader?.cancel();
    return { status: response.status, text: first?.value ?? '' };
  }

  async function create(asked: Asked, member: string): Promise<string> {
    const { status, text } = await ask({ method: 'POST', ...asked });
    const id = new RegExp(`"${member}":"([^"]+)"`).exec(text)?.[1];
    if (id === undefined) throw new Error(`${asked.path}: ${status} ${text.slice(0, 200)}`);
    return id;
  }

  return {
    ask,
    upload: (name, content, purpose = 'record_file') => {
      const body = new FormData();
      body.set('purpose', purpose);
      body.set('file', new Blob([Uint8Array.from(content)]), name);
      return create({ path: '/v1/files', body }, 'file_id');
    },
    createCollection: () => create({ path: '/v1/collections', json: { name: 'starvation' } }, 'collection_id'),
    createRecord: async (collectionId, fileId, more = {}) => {
      const path = `/v1/collections/${collectionId}/records`;
      const json = { type: 'file', file_id: fileId, title: '', ...more };
      return `${path}/${await create({ path, json }, 'record_id')}`;
    },
    createKey: (projectId) => {
      const json = { name: 'starvation', scopes: ['files', 'collections', 'plugins'] };
      return create({ path: `/v1/projects/${projectId}/keys`, json }, 'key');
    },
    settle: async (path) => {
      for (;;) {
        const { status, text } = await ask({ path });
        if (status !== 200) return String(status);
        const ended = /"status":"(ready|partial|error|cancelled)"/.exec(text)?.[1];
        if (ended !== undefined) return ended;
        await pause(pollMs, undefined, { signal });
      }
    },
    execute: (plugin, input, more = {}) => {
      const [bundle_id, plugin_id] = plugin.split('/');
      const json = { bundle_id, plugin_id, input_params: input, credentials: {} };
      return ask({ address: 'plugins', method: 'POST', path: '/v1/execute', json, ...more });
    },
  };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** A message of MCP, in the revision 2026-07-28. */
export function mcpRequest(method: string, params: object, name?: string): Asked {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'proof', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    address: 'plugins',
    method: 'POST',
    path: '/mcp',
    headers: {
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(name === undefined ? {} : { 'Mcp-Name': name }),
    },
    json: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
  };
}

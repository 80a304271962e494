import { createHash } from 'node:crypto';
import { contentOf } from './content.ts';
import type { Answer, Request } from './history.ts';

/** The addresses of a service, and a key. */
export interface Target {
  readonly filesUrl: string;
  readonly pluginsUrl: string;
  readonly key: string;
}

/** Milliseconds after which a client gives up. */
const timeoutMs = 60_000;

/** Sends one request. Returns `undefined` when no complete response arrived. */
export async function sendRequest(target: Target, request: Request): Promise<Answer | undefined> {
  const { url, init } = toHttp(target, request);
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (request.what === 'read file' && answer.ok) {
      return { status: answer.status, sha256: createHash('sha256').update(bytes).digest('hex') };
    }
    return toAnswer(answer.status, bytes);
  } catch {
    return undefined;
  }
}

interface Body {
  readonly data?: Record<string, unknown>;
  readonly error?: { readonly code?: string };
}

function toAnswer(status: number, bytes: Buffer): Answer {
  let body: Body = {};
  try {
    body = JSON.parse(bytes.toString()) as Body; // checked member by member below
  } catch {
    return { status, code: 'NO_ENVELOPE' };
  }
  const data = body.data ?? {};
  const id = data.file_id ?? data.collection_id ?? data.record_id ?? data.run_id;
  // A record also names its collection.
  const own = data.record_id ?? id;
  return {
    status,
    ...(typeof own === 'string' ? { id: own } : {}),
    ...(body.error?.code === undefined ? {} : { code: body.error.code }),
  };
}

function toHttp({ filesUrl, pluginsUrl, key }: Target, request: Request): { url: string; init: RequestInit } {
  const authorization = { Authorization: `Bearer ${key}` };
  const json = (url: string, body: unknown, headers: Record<string, string> = {}) => ({
    url,
    init: {
      method: 'POST',
      headers: { ...authorization, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    },
  });
  const plain = (method: string, path: string) => ({ url: filesUrl + path, init: { method, headers: authorization } });
  const withKey = 'key' in request && request.key !== undefined ? { 'Idempotency-Key': request.key } : {};
  switch (request.what) {
    case 'upload': {
      const form = new FormData();
      form.set('purpose', 'record_file');
      form.set('file', new Blob([new Uint8Array(contentOf(request.content))]), request.name);
      return {
        url: `${filesUrl}/v1/files`,
        init: { method: 'POST', headers: { ...authorization, ...withKey }, body: form },
      };
    }
    case 'delete file':
      return plain('DELETE', `/v1/files/${request.fileId}`);
    case 'read file':
      return plain('GET', `/v1/files/${request.fileId}/content`);
    case 'create collection':
      return json(`${filesUrl}/v1/collections`, { name: 'proof', type: 'text' });
    case 'create record': {
      const { collectionId, word, fileId } = request;
      const source =
        fileId === undefined ? { type: 'text', content: `About ${word}.` } : { type: 'file', file_id: fileId };
      return json(`${filesUrl}/v1/collections/${collectionId}/records`, source);
    }
    case 'delete record':
      return plain('DELETE', `/v1/collections/${request.collectionId}/records/${request.recordId}`);
    case 'run':
    case 'start run': {
      const body = {
        bundle_id: 'proof',
        plugin_id: request.plugin,
        input_params: { q: request.text },
        credentials: {},
      };
      const prefer = request.what === 'start run' ? { Prefer: 'respond-async' } : {};
      return json(`${pluginsUrl}/v1/execute`, body, { ...withKey, ...prefer });
    }
  }
}

import { isUtf8 } from 'node:buffer';
import type { OutboundRequest } from '@quartermaster/plugin-kit';
import { currentRun } from './current-run.ts';
import { assertWhole, fieldIn } from './secret-use.ts';

export interface PieceRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: Buffer;
}

export interface PieceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']);
/** The broker sets these. */
const reserved = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'keep-alive', 'proxy-connection'],
  ...['proxy-authorization', 'te', 'trailer', 'expect', 'accept-encoding'],
]);
/** They describe the body as it was sent. The broker has decoded it. */
const encodings = new Set(['content-encoding', 'content-length', 'transfer-encoding']);

/** Sends a request of a piece through the `context.fetch` of its run. */
export async function sendRequest({ method, url, headers, body }: PieceRequest): Promise<PieceResponse> {
  const run = currentRun.getStore();
  if (run === undefined) throw new Error('A piece can send requests only while one of its actions runs.');
  if (run.refusal !== undefined) throw run.refusal;
  assertWhole(url);
  const verb = method.toUpperCase();
  if (!methods.has(verb)) throw new Error(`Pieces cannot send requests with the method ${verb}.`);
  const sent = Array.from(headers, ([name, value]) => [name.toLowerCase(), value] as const);
  const request = {
    method: verb as NonNullable<OutboundRequest['method']>, // one of the set above
    url,
    headers: Object.fromEntries(sent.filter(([name]) => !reserved.has(name))),
    binary: true,
    ...(body.length === 0 ? {} : isUtf8(body) ? { body: body.toString() } : { base64: body.toString('base64') }),
  };
  run.hasSentSecret ||= fieldIn([url, body, ...sent.map(([, value]) => value)]) !== undefined;
  const answer = await run.context.fetch(request);
  return {
    status: answer.status,
    headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !encodings.has(name))),
    body: answer.base64 === undefined ? Buffer.from(answer.text) : Buffer.from(answer.base64, 'base64'),
  };
}

/** The global `fetch` of a piece. Redirects are followed by the broker, whatever the request asks for. */
export async function fetchForPiece(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const sending = sendRequest({
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: Buffer.from(await request.arrayBuffer()),
  });
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(request.signal.reason);
  request.signal.addEventListener('abort', abort);
  if (request.signal.aborted) abort();
  try {
    const { status, headers, body } = await Promise.race([sending, aborted]);
    const hasBody = ![204, 205, 304].includes(status);
    const response = new Response(hasBody ? new Uint8Array(body) : null, { status, headers });
    return Object.defineProperty(response, 'url', { value: request.url });
  } finally {
    request.signal.removeEventListener('abort', abort);
  }
}

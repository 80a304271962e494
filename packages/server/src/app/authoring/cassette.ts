import { isDeepStrictEqual } from 'node:util';
import type { EgressRequest, EgressResult } from '../../platform/outbound.ts';
import { decodeText } from '../../tools/execution/upstream-answers/body.ts';

/**
 * The recorded requests and answers of one example, for tests without a network. Requests are stored as the plugin created them,
 * before credentials are injected; answers as the plugin received them. ADR 0045.
 */
export interface Cassette {
  /** The day, in ISO 8601. */
  readonly recordedAt: string;
  readonly calls: readonly RecordedCall[];
}

export interface RecordedCall {
  readonly request: RecordedRequest;
  readonly response: RecordedResponse;
}

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly query?: ReadonlyArray<readonly [string, string]>;
  readonly body?: RecordedBody;
}

export interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RecordedBody;
}

/** A body as JSON, so that changes are readable, as other text, or as base64. */
export type RecordedBody = { readonly json: unknown } | { readonly text: string } | { readonly base64: string };

type Answer = Extract<EgressResult, { kind: 'response' }>;

const format = 'quartermaster-cassette/1';

export function writeCassette({ recordedAt, calls }: Cassette): string {
  return `${JSON.stringify({ format, recorded_at: recordedAt, calls }, null, 2)}\n`;
}

/** @returns null when the text is not a cassette */
export function readCassette(text: string): Cassette | null {
  const value: unknown = parsed(text);
  const { format: found, recorded_at: recordedAt, calls } = Object(value);
  if (found !== format || typeof recordedAt !== 'string' || !Array.isArray(calls)) return null;
  return calls.every(isCall) ? { recordedAt, calls } : null;
}

export function recordRequest({ method, url, query = [], headers = {}, body }: EgressRequest): RecordedRequest {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const content = body === undefined ? undefined : recordBody(Buffer.from(body), type);
  return {
    method,
    url,
    ...(query.length === 0 ? {} : { query }),
    ...(content === undefined ? {} : { body: content }),
  };
}

export function recordResponse({ status, headers, body }: Answer): RecordedResponse {
  const remaining = Object.entries(headers).filter(([name]) => !ofThisConnection.has(name));
  const content = recordBody(body, headers['content-type']);
  return { status, headers: Object.fromEntries(remaining), ...(content === undefined ? {} : { body: content }) };
}

/** Whether a request equals a recorded one. Headers are not compared, because most describe the caller rather than the request. */
export function isRequest(recorded: RecordedRequest, request: RecordedRequest): boolean {
  return isDeepStrictEqual(plain(recorded), plain(request));
}

/** Returns the bytes of a recorded answer. */
export function bytesOf(body: RecordedBody | undefined): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if ('json' in body) return Buffer.from(JSON.stringify(body.json));
  return 'text' in body ? Buffer.from(body.text) : Buffer.from(body.base64, 'base64');
}

/** Headers that are not recorded. Cookies are sessions; the others describe one transfer and do not apply to the replay. */
const ofThisConnection = new Set([
  ...['set-cookie', 'content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['alt-svc', 'date', 'age', 'report-to', 'nel', 'server-timing', 'strict-transport-security', 'vary', 'via'],
]);

function recordBody(bytes: Buffer, contentType: string | undefined): RecordedBody | undefined {
  if (bytes.length === 0) return undefined;
  const text = decodeText(bytes, contentType);
  // Bytes that are not UTF-8 are stored as base64, whatever the content type says.
  if (!Buffer.from(text).equals(bytes)) return { base64: bytes.toString('base64') };
  const json: unknown = /[/+]json\b/i.test(contentType ?? '') ? parsed(text) : undefined;
  return json === undefined ? { text } : { json };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function isCall(value: unknown): value is RecordedCall {
  const { request, response } = Object(value);
  const { method, url } = Object(request);
  const { status, headers } = Object(response);
  const isAsked = typeof method === 'string' && typeof url === 'string';
  return isAsked && Number.isInteger(status) && typeof headers === 'object' && headers !== null;
}

import { setTimeout as pause } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import { Counter, type Registry } from '../../platform/metrics.ts';
import type { Secret } from '../../platform/secret.ts';
import { createAwsSigner } from '../../tools/egress/signing/sign-aws.ts';
import { encodeStrictly, sortedQuery } from '../../tools/egress/signing/signing.ts';
import { isTemporaryFailure, objectStorageFailure, S3Error } from './s3-problems.ts';

/** A bucket, the start of all keys in it, and how to reach it. */
export interface S3Place {
  readonly bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
  /** Unset: Amazon S3 of the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Whether the bucket is the first part of the path instead of the host name. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | null;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Below the prefix; empty for requests to the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
  /** Statuses of failures that are returned instead of thrown. */
  readonly returns?: readonly number[];
  /** Ends the request. It is not sent again. */
  readonly signal?: AbortSignal;
  /** Whether an answer with status 200 may hold an error. Its body is then read and checked. */
  readonly mayFailLate?: boolean;
}

/** A body that can be sent more than once. */
export interface S3Body {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Base64. */
  readonly md5: string;
  /** Each piece is valid until the next one is read. */
  readonly open: () => Buffer | AsyncIterable<Buffer>;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Dispatcher.ResponseData['body'];
  /** The text of the answer if `mayFailLate` is set, otherwise empty. */
  readonly text: string;
}

export interface S3Client {
  readonly place: S3Place;
  /** Sends a request, again after temporary failures. @throws Problem */
  send(request: S3Request): Promise<S3Answer>;
  /** Ends all requests. None is sent again. */
  close(): Promise<void>;
}

const mostAttempts = 5;
const retry = { firstMs: 100, longestMs: 2_000 };
const mostErrorBytes = 64 * 1024;

/**
 * Sends requests to an S3 service, signed with the hash of the body and with Content-MD5. No other checksum and no conditional
 * write is used, because services differ in them. Source: ADR 0179.
 * @param silenceMs milliseconds without an answer or without a byte, after which a request has failed
 */
export function createS3Client(place: S3Place, metrics?: Registry, silenceMs = 30_000): S3Client {
  const agent = new Agent({ headersTimeout: silenceMs, bodyTimeout: silenceMs, connect: { timeout: 10_000 } });
  const sign = createAwsSigner({
    accessKeyId: place.accessKeyId,
    secretAccessKey: place.secretAccessKey.reveal(),
    sessionToken: place.sessionToken?.reveal(),
    service: 's3',
    region: place.region,
  });
  const base = baseOf(place);
  const count = createCount(metrics);
  let isClosed = false;

  async function sendOnce(request: S3Request) {
    const { method, key, query = {}, headers = {}, body, returns = [], signal, mayFailLate } = request;
    const sentQuery = sortedQuery(new URLSearchParams(query).toString());
    const path =
      base.path +
      [place.prefix, key]
        .filter((part) => part !== '' && key !== '')
        .map(encodePath)
        .join('/');
    const own =
      body === undefined
        ? headers
        : { ...headers, 'content-type': 'application/octet-stream', 'content-md5': body.md5 };
    const signable = { method, host: base.host, path, query: sentQuery, headers: own, body: undefined };
    const signature = sign(body === undefined ? signable : { ...signable, bodySha256: body.sha256 }, Date.now());
    const answer = await agent.request({
      origin: base.origin,
      path: sentQuery === '' ? path : `${path}?${sentQuery}`,
      method,
      signal: signal ?? null,
      headers: { ...own, ...signature.headers, ...(body !== undefined && { 'content-length': String(body.bytes) }) },
      body: body === undefined ? null : (body.open() as unknown as Dispatcher.DispatchOptions['body'] & object),
    });
    const { statusCode: status } = answer;
    if (returns.includes(status) && status !== 200) {
      await answer.body.dump();
      return { status, headers: answer.headers, body: answer.body, text: '' };
    }
    if (status >= 300) throw await readError(`${method} of an object`, answer);
    const text = mayFailLate === true ? await readText(answer.body) : '';
    if (text.includes('<Error>')) throw toError(`${method} of an object`, { status: 500, text });
    if (method !== 'GET' && mayFailLate !== true) await answer.body.dump();
    return { status, headers: answer.headers, body: answer.body, text };
  }

  return {
    place,
    async send(request) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          request.signal?.throwIfAborted();
          const answer = await sendOnce(request);
          count(request.method, 'succeeded');
          return answer;
        } catch (error) {
          const isEnded = isClosed || request.signal?.aborted === true;
          const isLast = attempt === mostAttempts || isEnded || !isTemporaryFailure(error);
          count(request.method, isLast ? 'failed' : 'repeated');
          if (isLast) throw objectStorageFailure(error);
          await pause(retryDelayMs(retry, attempt) * (0.5 + Math.random() / 2));
        }
      }
    },
    async close() {
      isClosed = true;
      await agent.destroy();
    },
  };
}

function createCount(metrics: Registry | undefined) {
  if (metrics === undefined) return () => undefined;
  const requests = new Counter({
    name: 'quartermaster_object_storage_requests_total',
    help: 'Requests to the object storage by method and result: `succeeded`, `repeated` after a failure, or `failed`.',
    labelNames: ['method', 'result'] as const,
    registers: [metrics],
  });
  return (method: string, result: string) => requests.inc({ method, result });
}

function baseOf({ bucket, endpoint, region, pathStyle }: S3Place) {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  const host = pathStyle ? url.host : `${bucket}.${url.host}`;
  const path = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
  return { host, origin: `${url.protocol}//${host}`, path: pathStyle ? `${path}${bucket}/` : path };
}

export function encodePath(key: string): string {
  return key.split('/').map(encodeStrictly).join('/');
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    // The rest of a long answer is neither an error nor a page of a list.
    if (bytes > 8 * 2 ** 20) break;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

async function readError(operation: string, { statusCode: status, body }: Dispatcher.ResponseData): Promise<S3Error> {
  return toError(operation, { status, text: (await readText(body)).slice(0, mostErrorBytes) });
}

function toError(operation: string, { status, text }: { status: number; text: string }): S3Error {
  const code = elementOf(text, 'Code') ?? codeOf(status);
  return new S3Error(operation, { status, code, message: (elementOf(text, 'Message') ?? '').slice(0, 200) });
}

/** Answers to HEAD have no body. */
function codeOf(status: number): string {
  if (status === 403) return 'AccessDenied';
  return status === 301 || status === 307 ? 'PermanentRedirect' : `HTTP ${status}`;
}

/** Returns the text of the first element with a name. Only the five predefined entities occur in what is read here. */
export function elementOf(xml: string, name: string): string | undefined {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const start = xml.indexOf(open);
  const end = xml.indexOf(close, start);
  if (start === -1 || end === -1) return undefined;
  return xml
    .slice(start + open.length, end)
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}

/** Returns the contents of all elements with a name, in order. */
export function elementsOf(xml: string, name: string): string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => rest.slice(0, Math.max(0, rest.indexOf(`</${name}>`))));
}

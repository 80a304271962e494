import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { serve } from './http.ts';
import { schemes, secretsOf } from './scheme-bundles.ts';

/** An upstream on 127.0.0.1 that returns its requests and the known secrets in the requested way. */
export interface EchoingUpstream {
  readonly origin: string;
  /** The modes of `/verify` and `/token` from now on. */
  answers: { verify: string; token: string };
  /** The access and refresh tokens that it has issued. */
  readonly issued: string[];
  /** Returns the number of requests of a scheme. */
  count(scheme: string): number;
}

interface Exchange {
  readonly response: ServerResponse;
  /** The whole request and the secrets as one text. */
  readonly all: string;
  readonly secret: string;
  readonly scheme: string;
}

/** Responses by mode. They imitate no real API. */
const modes: Readonly<Record<string, (exchange: Exchange) => void>> = {
  echo: ({ response, all }) => sendJson(response, 200, { all }),
  'as-text': ({ response, all }) => send(response, { type: 'text/plain' }, all),
  'as-json-in-json': ({ response, all }) =>
    sendJson(response, 200, { a: JSON.stringify({ a: JSON.stringify({ all }) }) }),
  'as-json-ascii': ({ response, all }) => send(response, {}, ascii(JSON.stringify({ all }))),
  'as-base64': ({ response, secret }) => sendJson(response, 200, { a: base64(secret) }),
  'as-base64-behind-1': ({ response, all }) => sendJson(response, 200, { a: base64(`a${all}`) }),
  'as-base64-behind-2': ({ response, all }) => sendJson(response, 200, { a: base64(`ab${all}`) }),
  'as-base64url': ({ response, all }) => sendJson(response, 200, { a: Buffer.from(all).toString('base64url') }),
  'as-hex': ({ response, all }) => sendJson(response, 200, { a: Buffer.from(all).toString('hex') }),
  'as-upper-hex': ({ response, all }) => sendJson(response, 200, { a: Buffer.from(all).toString('hex').toUpperCase() }),
  'as-hex-of-url': ({ response, all }) =>
    sendJson(response, 200, { a: Buffer.from(encodeURIComponent(all)).toString('hex') }),
  'as-base64-of-url': ({ response, all }) => sendJson(response, 200, { a: base64(encodeURIComponent(all)) }),
  'as-url-of-base64': ({ response, all }) => sendJson(response, 200, { a: encodeURIComponent(base64(all)) }),
  'as-base64-of-utf16': ({ response, all }) =>
    sendJson(response, 200, { a: Buffer.from(all, 'utf16le').toString('base64') }),
  'as-url': ({ response, all }) => sendJson(response, 200, { a: encodeURIComponent(all) }),
  'as-lower-url': ({ response, all }) =>
    sendJson(response, 200, { a: encodeURIComponent(all).replace(/%../g, (code) => code.toLowerCase()) }),
  'as-form': ({ response, all }) =>
    send(response, { type: 'application/json' }, JSON.stringify({ a: `${new URLSearchParams({ all })}` })),
  'as-html': ({ response, all }) => send(response, { type: 'text/html', status: 500 }, `<pre>${escapeHtml(all)}</pre>`),
  'as-gzip': ({ response, all }) => send(response, { encoding: 'gzip' }, gzipSync(JSON.stringify({ all }))),
  'as-deflate': ({ response, all }) => send(response, { encoding: 'deflate' }, deflateSync(JSON.stringify({ all }))),
  'as-brotli': ({ response, all }) => send(response, { encoding: 'br' }, brotliCompressSync(JSON.stringify({ all }))),
  'as-gzip-twice': ({ response, all }) =>
    send(response, { encoding: 'gzip, gzip' }, gzipSync(gzipSync(JSON.stringify({ all })))),
  'as-gzip-unnamed': ({ response, all }) => send(response, {}, gzipSync(JSON.stringify({ all }))),
  'as-utf16le': ({ response, all }) =>
    send(response, utf16('utf-16le'), Buffer.from(JSON.stringify({ all }), 'utf16le')),
  'as-utf16be': ({ response, all }) =>
    send(response, utf16('utf-16be'), Buffer.from(JSON.stringify({ all }), 'utf16le').swap16()),
  'as-utf16-unnamed': ({ response, all }) => send(response, {}, Buffer.from(JSON.stringify({ all }), 'utf16le')),
  'as-utf16-in-json': ({ response, secret }) =>
    sendJson(response, 200, { a: Buffer.from(secret, 'utf16le').toString('latin1') }),
  'as-utf16-error': ({ response, all }) =>
    send(response, { ...utf16('utf-16'), status: 500 }, Buffer.from(`\uFEFF${all.repeat(20)}`, 'utf16le')),
  'as-iso-2022-jp': ({ response, secret }) =>
    send(
      response,
      { type: 'application/json; charset=iso-2022-jp' },
      JSON.stringify({ a: [...secret].join('\x1b(B') }).replaceAll('\\u001b', '\x1b'),
    ),
  'as-lower-case': ({ response, all }) => sendJson(response, 200, { a: all.toLowerCase() }),
  'in-header': ({ response, secret, all }) =>
    sendJson(response, 200, { a: 1 }, { 'x-echo': secret, 'x-url': encodeURIComponent(all), 'x-base64': base64(all) }),
  'in-header-name': ({ response, secret }) =>
    sendJson(
      response,
      200,
      { a: 1 },
      { [`x-${hostLabel(secret)}`]: '1', [`x-${Buffer.from(secret).toString('hex')}`]: '1' },
    ),
  'in-cookie': ({ response, secret }) =>
    sendJson(response, 200, { a: 1 }, { 'set-cookie': [`a=${encodeURIComponent(secret)}`, `b=${base64(secret)}`] }),
  'in-member-names': ({ response, secret, all }) => sendJson(response, 200, { [secret]: 1, [all]: { [secret]: 1 } }),
  'in-status-text': ({ response, secret }) => raw(response, `HTTP/1.1 500 ${secret}\r\ncontent-length: 0\r\n\r\n`),
  'in-early-hints': ({ response, secret }) =>
    raw(
      response,
      `HTTP/1.1 103 Early\r\nlink: <https://a.test/${secret}>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}`,
    ),
  'in-error': ({ response, all }) => sendJson(response, 200, { error: all }),
  'error-400': ({ response, all }) => sendJson(response, 400, { message: all }),
  'error-401': ({ response, all, secret }) =>
    sendJson(response, 401, { message: all }, { 'www-authenticate': `Bearer error="${encodeURIComponent(secret)}"` }),
  'error-403': ({ response, all }) => sendJson(response, 403, { message: all }),
  'error-404': ({ response, all }) => send(response, { type: 'text/plain', status: 404 }, all),
  'error-429': ({ response, all }) => sendJson(response, 429, { message: all }, { 'retry-after': '1' }),
  'error-500': ({ response, all }) => send(response, { type: 'text/plain', status: 500 }, `${'x'.repeat(1000)}${all}`),
  'error-503': ({ response, all }) => sendJson(response, 503, { message: all }),
  'redirect-here': ({ response, all, scheme }) => redirect(response, `/${scheme}/echo?all=${encodeURIComponent(all)}`),
  'redirect-other': ({ response, all }) => redirect(response, `https://other.example.com/${encodeURIComponent(all)}`),
  'redirect-refused': ({ response, all }) => redirect(response, `https://evil.example.org/?${encodeURIComponent(all)}`),
  'redirect-named': ({ response, secret }) => redirect(response, `https://${hostLabel(secret)}.example.org/`),
  'redirect-user': ({ response, secret }) =>
    redirect(response, `https://user:${encodeURIComponent(secret)}@evil.example.org/`),
  'redirect-nowhere': ({ response, secret }) => redirect(response, `http://[${encodeURIComponent(secret)}`),
  'redirect-for-ever': ({ response, secret, scheme }) =>
    redirect(response, `/${scheme}/redirect-for-ever?${encodeURIComponent(secret)}`),
  'bad-json': ({ response, all }) => send(response, {}, `{"all": ${JSON.stringify(all)}`),
  'bad-gzip': ({ response, all }) => send(response, { encoding: 'gzip' }, all),
  'bad-encoding': ({ response, all, secret }) => send(response, { encoding: encodeURIComponent(secret) }, all),
  'bad-shape': ({ response, all }) => sendJson(response, 200, [all]),
  'cut-off': ({ response, all }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' }).write(all);
    setImmediate(() => response.destroy());
  },
  reset: ({ response }) => response.socket?.resetAndDestroy(),
  'not-http': ({ response, all }) => raw(response, `${all}\r\n\r\n`),
  'no-answer': () => {},
  'no-end': ({ response, all }) => void response.writeHead(200, { 'content-type': 'text/plain' }).write(all),
  'too-large': ({ response, all }) => send(response, { type: 'text/plain' }, all.repeat(2_000)),
  'too-many-headers': ({ response, all }) =>
    sendJson(response, 200, {}, { 'x-all': encodeURIComponent(all).repeat(100) }),
  'too-deep': ({ response, all }) =>
    send(response, {}, `${'{"a":'.repeat(300)}${JSON.stringify(all)}${'}'.repeat(300)}`),
};

export const upstreamModes = Object.keys(modes);

export async function startEchoingUpstream(t: TestContext): Promise<EchoingUpstream> {
  const issued: string[] = [];
  const counts = new Map<string, number>();
  const answers = { verify: 'echo', token: 'granted' };
  const origin = await serve(t, async (request, response) => {
    const [, first = '', second = ''] = new URL(request.url ?? '/', 'http://upstream').pathname.split('/');
    const isOwn = first === 'verify' || first === 'token';
    const mode = isOwn ? answers[first] : second;
    counts.set(first, (counts.get(first) ?? 0) + 1);
    const scheme = isOwn ? second : first;
    const exchange = await receive(request, response, { scheme, issued });
    if (mode === 'granted') return grant(exchange, issued);
    if (mode === 'invalid-client') return sendJson(response, 401, { error: 'invalid_client', why: exchange.all });
    return (modes[mode] ?? modes.echo)?.(exchange);
  });
  return { origin, answers, issued, count: (scheme) => counts.get(scheme) ?? 0 };
}

/** Issues a refresh token only for a request that sends one. */
function grant({ response, all }: Exchange, issued: string[]): void {
  const token = `Issued-${randomBytes(12).toString('base64url')}`;
  const renewed = `Renewed-${randomBytes(12).toString('base64url')}`;
  const isRefresh = all.includes('grant_type=refresh_token');
  issued.push(token, ...(isRefresh ? [renewed] : []));
  const answer = { access_token: token, token_type: 'Bearer', expires_in: 3600 };
  sendJson(response, 200, isRefresh ? { ...answer, refresh_token: renewed } : answer);
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { scheme, issued }: { scheme: string; issued: readonly string[] },
): Promise<Exchange> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const known = schemes.filter(({ id }) => id === scheme).flatMap(secretsOf);
  const at = issued.findIndex((token) => request.headers.authorization === `Bearer ${token}`);
  const renewed = issued[at + 1]?.startsWith('Renewed') === true ? [issued[at + 1] ?? ''] : [];
  const tokens = at < 0 ? [] : [issued[at] ?? '', ...renewed];
  const body = Buffer.concat(chunks).toString();
  const all = JSON.stringify([...known, ...tokens, request.url, request.headers, body]);
  return { response, all, secret: known[0] ?? '', scheme };
}

interface Head {
  readonly status?: number;
  readonly type?: string;
  readonly encoding?: string;
}

function send(
  response: ServerResponse,
  { status = 200, type = 'application/json', encoding }: Head,
  body: string | Buffer,
): void {
  const packed = encoding === undefined ? {} : { 'content-encoding': encoding };
  response.writeHead(status, { 'content-type': type, ...packed }).end(body);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location }).end(location);
}

/** Writes to the socket directly, without the server's response writer. */
function raw(response: ServerResponse, text: string): void {
  response.socket?.end(text);
}

function utf16(charset: string): Head {
  return { type: `application/json; charset=${charset}` };
}

/** Returns the secret in a form that the name of a host or header allows. */
function hostLabel(secret: string): string {
  return /^[a-z0-9-]+$/i.test(secret) ? secret : Buffer.from(secret).toString('hex');
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function ascii(json: string): string {
  return json.replace(/[<>&/]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

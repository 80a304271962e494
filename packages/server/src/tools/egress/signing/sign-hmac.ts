import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { HmacSigning } from '@quartermaster/plugin-kit';
import type { Sign, Signable } from './signing.ts';
import { sortedQuery } from './signing.ts';

/** Decodes a key; null when the value does not match the encoding. */
export function hmacKey(value: string, encoding: HmacSigning['key_encoding'] = 'text'): Buffer | null {
  if (encoding === 'text') return Buffer.from(value);
  const shape = encoding === 'hex' ? /^(?:[0-9a-f]{2})+$/i : /^[A-Za-z0-9+/_-]+={0,2}$/;
  return shape.test(value) ? Buffer.from(value, encoding) : null;
}

/** Creates a signer that hashes the declared parts of the request with a key. `credentialOf` returns the other named credentials. */
export function createHmacSigner(
  declared: HmacSigning,
  key: Buffer,
  credentialOf: (name: string) => string | undefined,
): Sign {
  const { algorithm, message, encoding = 'hex', signature: place, timestamp, nonce } = declared;
  return (request, now) => {
    const moment = {
      timestamp: timestamp === undefined ? '' : formatTime(now, timestamp.format),
      nonce: nonce === undefined ? '' : randomBytes(16).toString('hex'),
    };
    const sent = { headers: new Map<string, string>(), query: [] as [string, string][] };
    const put = ({ in: where, name }: Placed, value: string) => {
      if (where === undefined || name === undefined) return;
      if (where === 'header') sent.headers.set(name.toLowerCase(), value);
      else sent.query.push([name, value]);
    };
    put(timestamp ?? {}, moment.timestamp);
    put(nonce ?? {}, moment.nonce);
    // Headers sent with the signature are signed too where the message names them.
    const signed = withSent(request, sent);
    const valueFor = (name: string) => partOf(name, signed, moment) ?? credentialOf(name.replace(/^credential:/, ''));
    const hash = createHmac(algorithm, key);
    for (const part of splitTemplate(message))
      hash.update(typeof part === 'string' ? part : (valueFor(part.name) ?? ''));
    const texts: Record<string, string> = { ...moment, signature: hash.digest(encoding) };
    const rendered = splitTemplate(place.template ?? '{signature}').map((part) =>
      typeof part === 'string' ? part : (texts[part.name] ?? credentialOf(part.name.replace(/^credential:/, '')) ?? ''),
    );
    put(place, rendered.join(''));
    return { headers: Object.fromEntries(sent.headers), query: sent.query };
  };
}

interface Placed {
  readonly in?: 'header' | 'query';
  readonly name?: string;
}

function withSent(
  request: Signable,
  sent: { readonly headers: ReadonlyMap<string, string>; readonly query: ReadonlyArray<readonly [string, string]> },
): Signable {
  const added = sent.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const query = [...(request.query === '' ? [] : [request.query]), ...added].join('&');
  return { ...request, query, headers: { ...request.headers, ...Object.fromEntries(sent.headers) } };
}

function partOf(
  name: string,
  request: Signable,
  moment: { readonly timestamp: string; readonly nonce: string },
): string | Uint8Array | undefined {
  if (name.startsWith('header:')) return request.headers[name.slice('header:'.length).toLowerCase()] ?? '';
  const body = request.body ?? '';
  switch (name) {
    case 'method':
    case 'host':
    case 'path':
    case 'query':
      return request[name];
    case 'sorted_query':
      return sortedQuery(request.query);
    case 'path_and_query':
      return request.query === '' ? request.path : `${request.path}?${request.query}`;
    case 'body':
      return body;
    case 'body_sha256':
      return createHash('sha256').update(body).digest('hex');
    case 'body_sha256_base64':
      return createHash('sha256').update(body).digest('base64');
    case 'timestamp':
    case 'nonce':
      return moment[name];
    default:
      return undefined;
  }
}

function formatTime(now: number, format: NonNullable<HmacSigning['timestamp']>['format']): string {
  switch (format) {
    case 'seconds':
      return String(Math.floor(now / 1000));
    case 'milliseconds':
      return String(now);
    case 'iso8601':
      return new Date(now).toISOString();
    case 'http_date':
      return new Date(now).toUTCString();
  }
}

/** Splits a template into text and placeholders, alternating. */
function splitTemplate(template: string): Array<string | { readonly name: string }> {
  return template
    .split(/(\{[a-z0-9_]+(?::[A-Za-z0-9_.-]+)?\})/)
    .map((part, index) => (index % 2 === 0 ? part : { name: part.slice(1, -1) }));
}

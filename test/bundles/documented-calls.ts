import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Received, userAgent } from './bundle-fixture.ts';

/**
 * A request as the documentation of the API requires it, from `documented/`. The tests compare the requests of bundles
 * with it. It was written separately from the bundles, but from the same general knowledge of the documentation (ADR
 * 0045). It therefore finds slips, not errors in that knowledge. None of it was recorded.
 */
export interface DocumentedRequest {
  /** Method and path, with percent-encoding. */
  readonly request: string;
  /** All names and values; a list when a name occurs several times. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The exact JSON body, or the fields of a form. A file is {filename, type, base64}. */
  readonly body?: unknown;
}

export interface DocumentedVerification extends DocumentedRequest {
  /** A file of the bundle with the response to valid credentials. */
  readonly accepted: string;
  /** A file of the bundle with the response to invalid credentials, which has this status. */
  readonly refused: string;
  readonly status: number;
}

export interface DocumentedBundle {
  /** The credentials that the tests send. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Requests by plugin, one for each example in order; a list where one run makes several calls. */
  readonly requests: Readonly<Record<string, ReadonlyArray<DocumentedRequest | readonly DocumentedRequest[]>>>;
  readonly verify?: DocumentedVerification;
}

const folder = join(import.meta.dirname, 'documented');

/** The documented requests by bundle. */
export const documented: Readonly<Record<string, DocumentedBundle>> = Object.fromEntries(
  readdirSync(folder)
    .sort()
    .map((file) => [file.slice(0, -'.yaml'.length), parse(readFileSync(join(folder, file), 'utf8'))]),
);

/** Asserts that the received requests are those of the documentation, call by call. */
export function assertSent(received: readonly Received[], expected: DocumentedRequest | readonly DocumentedRequest[]) {
  const calls = Array.isArray(expected) ? expected : [expected];
  assert.equal(received.length, calls.length);
  for (const [index, call] of calls.entries()) {
    const sent = received[index];
    assert.ok(sent !== undefined);
    assertCall(sent, call);
  }
}

function assertCall(sent: Received, { request, query = {}, headers = {}, body }: DocumentedRequest): void {
  assert.equal(`${sent.method} ${sent.path}`, request);
  const expected = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  assert.deepEqual([...sent.query].sort(), expected.sort());
  for (const [name, value] of Object.entries(headers)) assert.equal(sent.headers[name], value, name);
  if (headers.authorization === undefined) assert.equal(sent.headers.authorization, undefined);
  assert.deepEqual(bodyOf(sent), body);
  // GitHub and Stack Exchange refuse callers that do not identify themselves, and Discord requires a form of its own.
  if (headers['user-agent'] === undefined) assert.equal(sent.headers['user-agent'], userAgent);
}

function bodyOf({ body, bytes, headers }: Received): unknown {
  if (body === '') return undefined;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/json')) return JSON.parse(body);
  if (type.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(body));
  if (type.startsWith('multipart/form-data')) return partsOf(bytes, type);
  return body;
}

/** Returns fields and files by name. Each name of ours occurs once. */
function partsOf(bytes: Buffer, type: string): Record<string, unknown> {
  const [, boundary = ''] = /boundary=(\S+)$/.exec(type) ?? [];
  const [, ...parts] = bytes.toString('latin1').split(`--${boundary}`);
  assert.equal(parts.pop(), '--\r\n');
  return Object.fromEntries(
    parts.map((part) => {
      const end = part.indexOf('\r\n\r\n');
      const content = Buffer.from(part.slice(end + 4, -2), 'latin1');
      const [, name = '', filename] = /name="([^"]*)"(?:; filename="([^"]*)")?/.exec(part.slice(0, end)) ?? [];
      if (filename === undefined) return [name, content.toString()];
      const [, kind] = /\r\nContent-Type: (.*)$/.exec(part.slice(0, end)) ?? [];
      return [name, { filename, type: kind, base64: content.toString('base64') }];
    }),
  );
}

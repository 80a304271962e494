import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ApiError, ConnectionError, TimeoutError } from '../errors.ts';
import { isRepeatable, keyedEndpoints, readRetryAfter, retryDelay } from './retry-policy.ts';

const fresh = { retries: 0, maxRetries: 2, isRepeatable: true, hasKey: false };
const once = { ...fresh, isRepeatable: false };
const keyed = { ...fresh, hasKey: true };
const refused = (status: number, code: string, retryAfterMs: number | null = null) =>
  new ApiError(status, { code, message: 'No.' }, { retryAfterMs });
const refusedConnection = new ConnectionError('x', {
  cause: new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
});

/** With the largest random number, so that the delay is the longest possible one. */
const cases: ReadonlyArray<readonly [what: string, error: unknown, state: typeof fresh, delay: number | null]> = [
  ['a lost connection', new ConnectionError('x'), fresh, 500],
  ['a lost connection, the second time', new ConnectionError('x'), { ...fresh, retries: 1 }, 1000],
  ['a lost connection after all retries', new ConnectionError('x'), { ...fresh, retries: 2 }, null],
  ['the tenth retry', new ConnectionError('x'), { ...fresh, retries: 9, maxRetries: 99 }, 8000],
  ['a time limit', new TimeoutError('x'), fresh, 500],
  ['a lost response to a creation', new ConnectionError('x'), once, null],
  ['a creation that could not be sent', refusedConnection, once, 500],
  ['a busy service', refused(429, 'TOO_MANY_REQUESTS', 2000), once, 2000],
  ['a busy service that asks for more than a minute', refused(429, 'TOO_MANY_REQUESTS', 61_000), once, null],
  ['a used quota', refused(429, 'RESOURCE_LIMIT_REACHED'), fresh, null],
  ['a busy proxy', refused(429, 'UNREADABLE_ANSWER'), once, 500],
  ['a slow request', refused(408, 'REQUEST_TIMEOUT'), fresh, 500],
  ['a slow creation', refused(408, 'REQUEST_TIMEOUT'), once, null],
  ['a service that is restarting', refused(503, 'SERVICE_UNAVAILABLE', 0), fresh, 0],
  ['a service that may have stored a creation', refused(503, 'SERVICE_UNAVAILABLE', 0), once, null],
  ['a proxy without a service', refused(502, 'UNREADABLE_ANSWER'), fresh, 500],
  ['a proxy that waited for too long', refused(504, 'UNREADABLE_ANSWER'), fresh, 500],
  ['a third party that failed', refused(502, 'PROVIDER_ERROR'), keyed, null],
  ['a third party that limits the rate', refused(429, 'PROVIDER_RATE_LIMITED', 2000), keyed, null],
  ['a plugin that took too long', refused(504, 'PLUGIN_TIMEOUT'), keyed, null],
  ['the same request in progress', refused(409, 'DUPLICATE_OBJECT', 1000), keyed, 1000],
  ['an object that exists', refused(409, 'DUPLICATE_OBJECT'), keyed, null],
  ['an object in use', refused(409, 'DUPLICATE_OBJECT', 1000), fresh, null],
  ['an internal error', refused(500, 'INTERNAL_SERVER_ERROR'), fresh, null],
  ['a wrong field', refused(422, 'REQUEST_VALIDATION_ERROR'), fresh, null],
  ['an error of the caller', new Error('x'), fresh, null],
];

for (const [what, error, state, delay] of cases) {
  test(`${what} is retried ${delay === null ? 'never' : `after at most ${delay} ms`}`, () => {
    assert.equal(
      retryDelay(error, state, () => 1),
      delay,
    );
  });
}

test('delays are random from zero', () => {
  assert.equal(
    retryDelay(new ConnectionError('x'), fresh, () => 0),
    0,
  );
});

const date = 'Mon, 23 Nov 2026 10:00:00 GMT';
const retryAfters: ReadonlyArray<readonly [headers: Record<string, string>, ms: number | null]> = [
  [{}, null],
  [{ 'Retry-After': '3' }, 3000],
  [{ 'Retry-After': 'soon' }, null],
  [{ 'Retry-After': '-1' }, null],
  // The clock of this machine does not matter.
  [{ 'Retry-After': 'Mon, 23 Nov 2026 10:00:05 GMT', Date: date }, 5000],
  [{ 'Retry-After': 'Mon, 23 Nov 2026 09:00:00 GMT', Date: date }, 0],
];

test('Retry-After is read as seconds and as a date of the clock of the service', () => {
  assert.deepEqual(
    retryAfters.map(([headers]) => readRetryAfter(new Headers(headers))),
    retryAfters.map(([, ms]) => ms),
  );
});

test('the operations that honour an Idempotency-Key are those of the OpenAPI documents', () => {
  const keyedInDocuments = ['files', 'plugins'].flatMap((address) => {
    const { paths } = JSON.parse(readFileSync(`docs/reference/openapi-${address}.json`, 'utf8')) as {
      paths: Record<string, Record<string, { parameters?: Array<{ name: string }> }>>;
    };
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'idempotency-key'))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
  });
  assert.ok(keyedInDocuments.length > 0);
  assert.deepEqual([...keyedEndpoints].sort(), keyedInDocuments.sort());
});

test('reads and deletions are repeatable, and creations are not', () => {
  assert.ok(isRepeatable('GET /v1/files'));
  assert.ok(isRepeatable('DELETE /v1/files/{file_id}'));
  assert.ok(isRepeatable('POST /v1/files'));
  assert.ok(!isRepeatable('POST /v1/collections'));
  assert.ok(!isRepeatable('POST /v1/collections/{collection_id}/records'));
  assert.ok(!isRepeatable('POST /v1/projects/{project_id}/keys'));
});

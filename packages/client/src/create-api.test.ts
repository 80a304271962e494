import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, errorCodes } from '@quartermaster/contract';
import { type ApiOptions, createApi } from './create-api.ts';
import { encodeCall } from './encode-call.ts';
import { ApiError, readApiError } from './errors.ts';
import type { FilesApi } from './generated/files-api.ts';

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

const refusal = { error: { code: 'OBJECT_NOT_FOUND', message: 'No such file.', request_id: 'req_1' } };

/** Creates an API with the given responses that records its requests. */
function fakeApi(
  responses: ReadonlyArray<readonly [status: number, body: unknown]>,
  options: Partial<ApiOptions> = {},
) {
  const sent: Sent[] = [];
  const answer: typeof fetch = async (url, init = {}) => {
    init.signal?.throwIfAborted();
    const [status, body] = responses[sent.length] ?? [200, { status: 'success' }];
    const headers = Object.fromEntries(new Headers(init.headers));
    sent.push({ url: String(url), method: String(init.method), headers, body: init.body ?? null });
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
  };
  return { sent, api: createApi<FilesApi>({ baseUrl: 'http://a', fetch: answer, ...options }) };
}

test('a BigInt is sent as an integer with all its digits', () => {
  const { body } = encodeCall('POST /v1/execute', { body: { ids: [1234567890123456789n, -9007199254740993n], n: 1 } });
  assert.equal(body, '{"ids":[1234567890123456789,-9007199254740993],"n":1}');
});

test('a call fills the path, the query and the headers, and sends its body as JSON', async () => {
  const { sent, api } = fakeApi([], { headers: () => ({ Authorization: 'Bearer k' }) });
  await api.send('GET /v1/files/{file_id}', { path: { file_id: '../a b' } });
  await api.send('GET /v1/files', { query: { limit: 2, name: 'ü&', after: undefined } });
  await api.send('POST /v1/collections', { body: { name: 'tea' }, idempotencyKey: 'once' });
  const json = { authorization: 'Bearer k', 'content-type': 'application/json', 'idempotency-key': 'once' };
  assert.deepEqual(sent, [
    { url: 'http://a/v1/files/..%2Fa%20b', method: 'GET', headers: { authorization: 'Bearer k' }, body: null },
    {
      url: 'http://a/v1/files?limit=2&name=%C3%BC%26',
      method: 'GET',
      headers: { authorization: 'Bearer k' },
      body: null,
    },
    { url: 'http://a/v1/collections', method: 'POST', headers: json, body: '{"name":"tea"}' },
  ]);
});

test('a form is sent without a content type set by the client', async () => {
  const { sent, api } = fakeApi([]);
  const body = new FormData();
  await api.send('POST /v1/files', { body });
  assert.equal(sent[0]?.body, body);
  assert.deepEqual(sent[0]?.headers, {});
});

test('json returns the whole body, and data returns its member data', async () => {
  const page = { status: 'success', data: [], fetched_count: 0, has_more: false };
  const { api } = fakeApi([200, 200].map((status) => [status, page] as const));
  assert.deepEqual(await api.json('GET /v1/files'), page);
  assert.deepEqual(await api.data('GET /v1/files'), []);
});

test('an error response is an ApiError, even if its body does not come from the service', async () => {
  const { api } = fakeApi([
    [404, refusal],
    [502, '<html>Bad Gateway</html>'],
    [500, '{}'],
  ]);
  const failures = [];
  for (let call = 0; call < 3; call += 1) failures.push(await api.json('GET /v1/files').catch((error) => error));
  assert.ok(failures.every((failure) => failure instanceof ApiError));
  assert.deepEqual(
    failures.map(({ status, code, message, requestId }) => [status, code, message, requestId]),
    [
      [404, 'OBJECT_NOT_FOUND', 'No such file.', 'req_1'],
      [502, 'UNREADABLE_ANSWER', 'HTTP 502: <html>Bad Gateway</html>', null],
      [500, 'UNREADABLE_ANSWER', 'HTTP 500: {}', null],
    ],
  );
});

test('an ApiError has a code of the service, or keeps a code of a newer service', () => {
  // Does not compile if the code accepts any string, because `string` is not assignable to ErrorCode.
  type Known = Extract<ApiError['code'], ErrorCode>;
  const known: readonly Known[] = Object.keys(errorCodes) as ErrorCode[]; // the keys of the table
  for (const code of [...known, 'CODE_OF_A_NEWER_SERVICE']) {
    const body = JSON.stringify({ status: 'error', error: { code, message: 'No.', request_id: 'r' } });
    assert.equal(readApiError(400, body).code, code);
  }
});

test('a refused call is repeated only as often as shouldRetry allows, each time with fresh headers', async () => {
  let attempts = 0;
  const { sent, api } = fakeApi(
    [
      [404, refusal],
      [404, refusal],
    ],
    {
      headers: () => ({ 'X-Attempt': String(attempts) }),
      beforeAttempt: async (endpoint) => {
        assert.equal(endpoint, 'GET /v1/version');
        attempts += 1;
      },
      shouldRetry: () => attempts < 3,
    },
  );
  await api.send('GET /v1/version');
  assert.deepEqual(
    sent.map(({ headers }) => headers['x-attempt']),
    ['1', '2', '3'],
  );
  const { sent: once, api: plain } = fakeApi([[404, refusal]]);
  await assert.rejects(plain.send('GET /v1/version'), ApiError);
  assert.equal(once.length, 1);
});

test('a call that does not wait reads its headers immediately', async () => {
  let token = 'first';
  const { sent, api } = fakeApi([], { headers: () => ({ 'X-Token': token }), beforeAttempt: () => undefined });
  const call = api.send('GET /v1/version');
  token = 'second';
  await call;
  assert.equal(sent[0]?.headers['x-token'], 'first');
});

test('an aborted call rejects with the reason of its signal', async () => {
  const { sent, api } = fakeApi([]);
  const reason = new Error('left the page');
  await assert.rejects(api.send('GET /v1/version', { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(sent.length, 0);
});

/** This function is never called. `npm run check` fails when one of these calls is no longer an error. */
export async function wrongCalls() {
  const { api } = fakeApi([]);
  // @ts-expect-error: no such path
  await api.send('GET /v1/filez');
  // @ts-expect-error: no such method
  await api.send('PUT /v1/files');
  // @ts-expect-error: the path parameter is missing
  await api.send('GET /v1/files/{file_id}');
  // @ts-expect-error: the path parameter has another name
  await api.send('GET /v1/files/{file_id}', { path: { id: 'a' } });
  // @ts-expect-error: no such parameter
  await api.send('GET /v1/files', { query: { limits: 1 } });
  // @ts-expect-error: no such order
  await api.send('GET /v1/files', { query: { order: 'up' } });
  // @ts-expect-error: an operation without parameters
  await api.send('GET /v1/version', { query: { a: '1' } });
  // @ts-expect-error: the body is missing
  await api.send('POST /v1/session');
  // @ts-expect-error: a member of the body is missing
  await api.send('POST /v1/session', { body: { name: 'a' } });
  // @ts-expect-error: a member of the body has another type
  await api.send('POST /v1/session', { body: { name: 'a', password: 1 } });
  // @ts-expect-error: no operation that answers with JSON
  await api.json('GET /metrics');
  // @ts-expect-error: no such member of the answer
  return (await api.data('GET /v1/version')).versions;
}

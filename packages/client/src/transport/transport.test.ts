import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
} from '../errors.ts';
import {
  hangUp,
  json,
  type ReceivedRequest,
  refusal,
  stall,
  startScriptedServer,
  success,
  testKey,
  text,
} from '../testing/scripted-server.ts';

/** Removes the random delays between attempts. */
function retryAtOnce(t: TestContext): void {
  t.mock.method(Math, 'random', () => 0);
}

const failureOf = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call succeeded');
};
const keysOf = (requests: readonly ReceivedRequest[]) => requests.map(({ headers }) => headers['idempotency-key']);
const file = { file_id: 'f' };

test('redirects are not followed, neither to another origin nor to the same one, and the key is not sent', async (t) => {
  const other = await startScriptedServer(t, success(file));
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await startScriptedServer(t, text('', status, { Location: `${other.url}/v1/files/f` }));
    const error = await failureOf(server.client.files.get('f'));
    assert.ok(error instanceof ApiError);
    assert.match(error.message, /redirect, which is not followed/);
    assert.equal(server.requests.length, 1);
    await failureOf(server.client.files.upload(new Blob(['a']), { name: 'a.txt' }));
  }
  const itself = await startScriptedServer(t, text('', 302, { Location: '/v1/files/g' }), success(file));
  await failureOf(itself.client.files.get('f'));
  assert.equal(itself.requests.length, 1);
  assert.equal(other.requests.length, 0);
});

test('a page of a proxy with status 200 is an ApiError, not data', async (t) => {
  for (const body of [
    '<html>Sign in to the Wi-Fi</html>',
    '{"status":"success","da',
    '[]',
    '{"status":"success"}',
    '',
  ]) {
    const { client, requests } = await startScriptedServer(t, text(body));
    const error = await failureOf(client.files.get('f'));
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.code], [200, 'UNREADABLE_ANSWER']);
    assert.match(error.message, /^HTTP 200 without the JSON of the service/);
    assert.equal(requests.length, 1);
  }
});

test('a page of a proxy with an error status is an ApiError with the status and the beginning of the page', async (t) => {
  const page = `<html>413 Request Entity Too Large${'x'.repeat(1000)}</html>`;
  const { client } = await startScriptedServer(t, text(page, 413));
  const error = await failureOf(client.files.upload(new Blob(['a']), { name: 'a.txt' }));
  assert.ok(error instanceof ValidationError);
  assert.equal(error.status, 413);
  assert.equal(error.message, `HTTP 413: ${page.slice(0, 200)}`);
});

test('an endless error page is read up to a limit', async (t) => {
  const { client } = await startScriptedServer(t, (response) => {
    response.writeHead(404);
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      response.once('drain', pour);
    };
    pour();
  });
  const error = await failureOf(client.files.get('f'));
  assert.ok(error instanceof NotFoundError);
  assert.ok(error.message.length < 300);
});

test('a response without content ends a deletion, and is not data', async (t) => {
  const { client } = await startScriptedServer(t, (response) => response.writeHead(204).end());
  assert.equal(await client.files.delete('f'), undefined);
  const error = await failureOf(client.files.get('f'));
  assert.ok(error instanceof ApiError);
  assert.equal(error.status, 204);
});

test('each status has its class, with the code, the request id and the idempotency key', async (t) => {
  const classes = [
    [400, ValidationError],
    [401, AuthenticationError],
    [403, PermissionError],
    [404, NotFoundError],
    [409, ConflictError],
    [422, ValidationError],
    [429, RateLimitError],
    [500, ServerError],
    [507, ServerError],
  ] as const;
  for (const [status, Kind] of classes) {
    const { client, requests } = await startScriptedServer(t, refusal(status, 'RESOURCE_LIMIT_REACHED'));
    const error = await failureOf(client.collections.create());
    assert.ok(error instanceof Kind, `${status}`);
    assert.equal(error.name, Kind.name);
    assert.deepEqual([error.status, error.code, error.requestId], [status, 'RESOURCE_LIMIT_REACHED', 'req-1']);
    assert.match(error.idempotencyKey ?? '', /^qm-[0-9a-f]{32}$/);
    assert.deepEqual(keysOf(requests), [error.idempotencyKey]);
  }
});

test('a refused field is an issue, and other details are not', async (t) => {
  const issue = { path: 'body/name', found: '5', expected: 'string' };
  const error = { code: 'REQUEST_VALIDATION_ERROR', message: 'No.', details: [issue, { max_bytes: 1 }] };
  const { client } = await startScriptedServer(t, json({ status: 'error', error }, 422));
  const failure = await failureOf(client.collections.create());
  assert.ok(failure instanceof ValidationError);
  assert.deepEqual(failure.issues, [issue]);
});

test('an upload whose response was lost is sent again with the same idempotency key', async (t) => {
  retryAtOnce(t);
  const { client, requests } = await startScriptedServer(t, hangUp, hangUp, success(file));
  assert.deepEqual(await client.files.upload(new Blob(['tea']), { name: 'a.txt' }), file);
  const [key] = keysOf(requests);
  assert.match(String(key), /^qm-/);
  assert.deepEqual(keysOf(requests), [key, key, key]);
  assert.ok(requests.every(({ body }) => body.includes('tea')));
});

test('two calls have different idempotency keys, and a given key is sent as it is', async (t) => {
  const { client, requests } = await startScriptedServer(t, success(file));
  await client.plugins.run('b/p', {});
  await client.plugins.run('b/p', {});
  await client.plugins.run('b/p', {}, { idempotencyKey: 'order-7' });
  await client.files.get('f');
  const [first, second, third, none] = keysOf(requests);
  assert.notEqual(first, second);
  assert.deepEqual([third, none], ['order-7', undefined]);
});

test('a creation whose response was lost is not sent again, because the service would create a second object', async (t) => {
  const { client, requests } = await startScriptedServer(t, hangUp, success({ record_id: 'r' }));
  const error = await failureOf(client.records.create('c', { content: 'a' }));
  assert.ok(error instanceof ConnectionError);
  assert.equal(requests.length, 1);
  assert.deepEqual(keysOf(requests), [error.idempotencyKey]);
});

test('the client waits for an identical upload in progress, but not for a used quota', async (t) => {
  const busy = await startScriptedServer(
    t,
    refusal(409, 'DUPLICATE_OBJECT', { 'Retry-After': '0' }),
    refusal(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '0' }),
    success(file),
  );
  assert.deepEqual(await busy.client.files.upload(new Blob(['a']), { name: 'a.txt' }), file);
  assert.equal(busy.requests.length, 3);
  const full = await startScriptedServer(t, refusal(429, 'RESOURCE_LIMIT_REACHED'));
  assert.ok((await failureOf(full.client.files.list())) instanceof RateLimitError);
  assert.equal(full.requests.length, 1);
});

test('a deletion whose response was lost succeeds when the object is gone', async (t) => {
  retryAtOnce(t);
  const { client } = await startScriptedServer(t, hangUp, refusal(404, 'OBJECT_NOT_FOUND'));
  assert.equal(await client.files.delete('f'), undefined);
  const gone = await startScriptedServer(t, refusal(404, 'OBJECT_NOT_FOUND'));
  assert.ok((await failureOf(gone.client.files.delete('f'))) instanceof NotFoundError);
});

test('maxRetries bounds the attempts, of the client and of a call', async (t) => {
  retryAtOnce(t);
  const { client, connect, requests } = await startScriptedServer(t, hangUp);
  await failureOf(client.files.list());
  assert.equal(requests.length, 3);
  await failureOf(connect({ maxRetries: 0 }).files.list());
  assert.equal(requests.length, 4);
  await failureOf(client.files.list({}, { maxRetries: 1 }));
  assert.equal(requests.length, 6);
});

test('a call without a response ends with TimeoutError', async (t) => {
  const { connect, requests } = await startScriptedServer(t, stall);
  const error = await failureOf(connect({ timeout: 50, maxRetries: 0 }).files.list());
  assert.ok(error instanceof TimeoutError);
  assert.match(error.message, /did not respond within 50 ms/);
  assert.equal(requests.length, 1);
  const body = await startScriptedServer(t, (response) => response.writeHead(200).write('{"status":'));
  assert.ok((await failureOf(body.connect({ timeout: 50, maxRetries: 0 }).files.list())) instanceof TimeoutError);
});

test('a body that breaks off is a ConnectionError', async (t) => {
  const { connect } = await startScriptedServer(t, (response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('{"status":"success"', () => response.destroy());
  });
  assert.ok((await failureOf(connect({ maxRetries: 0 }).files.list())) instanceof ConnectionError);
});

test('an aborted call rejects with the reason of its signal: before, during, between attempts and after', async (t) => {
  const reason = new Error('left the page');
  const before = await startScriptedServer(t, success(file));
  assert.equal(await failureOf(before.client.files.get('f', { signal: AbortSignal.abort(reason) })), reason);
  assert.equal(before.requests.length, 0);

  const during = new AbortController();
  const slow = await startScriptedServer(t, () => during.abort(reason));
  assert.equal(await failureOf(slow.client.files.get('f', { signal: during.signal })), reason);
  assert.equal(slow.requests.length, 1);

  const between = new AbortController();
  const busy = await startScriptedServer(t, (response, request) => {
    refusal(429, 'TOO_MANY_REQUESTS', { 'Retry-After': '60' })(response, request);
    setTimeout(() => between.abort(reason), 20);
  });
  assert.equal(await failureOf(busy.client.files.get('f', { signal: between.signal })), reason);
  assert.equal(busy.requests.length, 1);

  const after = new AbortController();
  const done = await before.client.files.get('f', { signal: after.signal });
  after.abort(reason);
  assert.deepEqual(done, file);
});

test('a service that cannot be reached is a ConnectionError that names the reason', async (t) => {
  retryAtOnce(t);
  const { client, url } = await startScriptedServer(t, success(file));
  const gone = client.files.list({}, { maxRetries: 1 });
  assert.ok(gone instanceof Promise);
  await failureOf(gone);
  const error = await failureOf(
    (await startScriptedServer(t, stall)).connect({ baseUrl: 'http://127.0.0.1:1' }).collections.create(),
  );
  assert.ok(error instanceof ConnectionError);
  assert.match(error.message, /^The connection to http:\/\/127\.0\.0\.1:1 failed: /);
  assert.ok(url);
});

test('withResponse gives the data, the response and the request id', async (t) => {
  const { client } = await startScriptedServer(t, json({ status: 'success', data: file }, 200, { ETag: '"7"' }));
  const { data, response, requestId } = await client.files.get('f').withResponse();
  assert.deepEqual(data, file);
  assert.deepEqual([response.status, response.headers.get('etag'), requestId], [200, '"7"', 'req-1']);
  const refused = await startScriptedServer(t, refusal(404, 'OBJECT_NOT_FOUND'));
  // The promise of the data alone must not be an unhandled rejection.
  assert.ok((await failureOf(refused.client.files.get('f').withResponse())) instanceof NotFoundError);
});

test('ids are encoded, and an id that would name another path is refused before a request', async (t) => {
  const { client, requests } = await startScriptedServer(t, success(file));
  for (const id of ['a/b', '../x', 'a?b', 'a#b', 'a%2Fb', 'ä b', '...']) await client.files.get(id);
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['a%2Fb', '..%2Fx', 'a%3Fb', 'a%23b', 'a%252Fb', '%C3%A4%20b', '...'].map((id) => `/v1/files/${id}`),
  );
  for (const id of ['', '.', '..', undefined as unknown as string]) {
    await assert.rejects(client.files.get(id), TypeError);
    await assert.rejects(client.files.delete(id), TypeError);
  }
  assert.equal(requests.length, 7);
});

test('an error does not contain the key, even if the response quotes it', async (t) => {
  const quoted = `You sent Authorization: Bearer ${testKey}`;
  const body = { status: 'error', error: { code: 'INVALID_REQUEST', message: quoted, details: [{ quoted }] } };
  const errors = [];
  for (const responder of [text(quoted, 502), text(quoted), json(body, 400)]) {
    const { connect } = await startScriptedServer(t, responder);
    errors.push(await failureOf(connect({ maxRetries: 0 }).files.list()));
  }
  const { inspect } = await import('node:util');
  for (const error of errors) {
    assert.ok(error instanceof ApiError);
    const shown = [error.message, String(error), error.stack, JSON.stringify(error), inspect(error, { depth: 9 })];
    assert.ok(!shown.join('\n').includes(testKey));
    assert.match(error.message, /Bearer \[API key\]/);
  }
});

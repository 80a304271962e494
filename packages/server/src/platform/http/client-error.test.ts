import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Problem } from '../problem.ts';
import { until } from '../testing/until.ts';
import { lingering } from './client-error.ts';
import { listen } from './listen.ts';
import { createTestApp } from './testing/test-app.ts';

const megabytes = Buffer.alloc(12 * 1024 * 1024, 'a');

async function serve(t: TestContext) {
  const app = createTestApp();
  const held = Promise.withResolvers<object>();
  const served: string[] = [];
  app.addHook('onRequest', async ({ url }) => void served.push(url));
  app.post('/v1/echo', async (request) => request.body);
  app.get('/v1/held', () => held.promise);
  const refuse = async () => {
    throw new Problem('APIKEY_VALIDATION_FAILED', 'no');
  };
  app.post('/v1/locked', { onRequest: refuse }, async () => ({}));
  const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'QUARTERMASTER_FILES_PORT' });
  t.after(() => server.close(0));
  return { port: Number(new URL(server.url).port), app, held, served };
}

/** Sends everything before it reads. Returns all responses, or the error of the connection. */
async function sendThenRead(port: number, ...parts: ReadonlyArray<string | Buffer>): Promise<string> {
  const socket = connect(port, '127.0.0.1').pause();
  return new Promise((resolve) => {
    let answer = '';
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('close', () => resolve(answer));
    parts.forEach((part, nth) => {
      socket.write(part, () => {
        if (nth === parts.length - 1) socket.resume();
      });
    });
  });
}

const post = (path: string, ...headers: string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
const length = `Content-Length: ${megabytes.length}`;
const manyHeaders = Array.from({ length: 250 }, (_, nth) => `X-${nth}: 1`);
const chunked = 'Transfer-Encoding: chunked';

const kinds = {
  'a header that is too large': [431, post('/v1/echo', `X: ${'x'.repeat(20_000)}`, length)],
  '250 headers before Content-Length': [400, post('/v1/echo', ...manyHeaders, length)],
  '250 headers after Content-Length': [400, post('/v1/echo', length, ...manyHeaders)],
  'a Content-Length that is no number': [400, post('/v1/echo', 'Content-Length: abc')],
  'two different lengths': [400, post('/v1/echo', 'Content-Length: 3', length)],
  'both Content-Length and Transfer-Encoding': [400, post('/v1/echo', length, chunked)],
  'a chunk size that is no number': [400, `${post('/v1/echo', chunked)}5\r\n{"a":\r\nxyz\r\n`],
  'a first chunk size that is no number': [400, `${post('/v1/echo', chunked)}xyz\r\n`],
  'a chunk that is longer than its size': [400, `${post('/v1/echo', chunked)}5\r\n`],
  'a malformed chunk of a refused body': [401, `${post('/v1/locked', chunked)}xyz\r\n`],
  'an invalid method': [400, post('/v1/echo', length).replace('POST', 'P@ST')],
  'an invalid version': [400, post('/v1/echo', length).replace('HTTP/1.1', 'HTTP/9.1')],
  'a path that is not valid': [400, post('/v1/%zz', length)],
  'a space before the colon of a header': [400, post('/v1/echo', 'X : 1', length)],
  CONNECT: [405, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
  'a length that is too large, with Expect': [413, post('/v1/echo', length, 'Expect: 100-continue')],
  'an unknown expectation': [413, post('/v1/echo', length, 'Expect: tea')],
  'HTTP/1.0': [413, post('/v1/echo', length, 'Connection: keep-alive').replace('HTTP/1.1', 'HTTP/1.0')],
} as const;

for (const [kind, [status, head]] of Object.entries(kinds)) {
  test(`the answer to ${kind} reaches 20 of 20 clients that send 12 MB before they read`, async (t) => {
    const { port } = await serve(t);
    for (let nth = 0; nth < 20; nth++) {
      const answer = await sendThenRead(port, head, megabytes);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), `client ${nth}`);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { error: { request_id: string } };
      assert.match(body.error.request_id, /^req_/);
    }
    await until(async () => lingering.connections === 0);
  });
}

test('the answer to headers that arrive too slowly reaches a client that sends 12 MB before it reads', async (t) => {
  const { port, app } = await serve(t);
  // What Node does when its check of the headers finds a connection after 15 s.
  app.server.once('connection', (socket: Socket) => {
    const error = Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    setImmediate(() => app.server.emit('clientError', error, socket));
  });
  const answer = await sendThenRead(port, 'POST /v1/echo HTTP/1.1\r\n', megabytes);
  assert.match(answer, /^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/);
});

test('malformed input after a request does not disturb its response, which closes the connection', async (t) => {
  const { port, held } = await serve(t);
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  socket.write('GET /v1/held HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n');
  socket.write(megabytes, () => held.resolve({ held: true }));
  await once(socket, 'close');
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*\r\nconnection: close\r\n[\s\S]*\r\n\r\n\{"held":true\}$/);
});

test('malformed input after a request that closes the connection does not disturb its response', async (t) => {
  const { port } = await serve(t);
  const request =
    'POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\nConnection: close\r\n\r\n{"a":1}';
  const answer = await sendThenRead(port, request, 'GARBAGE\r\n\r\n', megabytes);
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\{"a":1\}$/);
});

test('a request after an early refusal on the same connection is not served', async (t) => {
  const { port, served } = await serve(t);
  const second = `${post('/v1/echo', 'Content-Length: 7')}{"a":1}`;
  const answer = await sendThenRead(port, post('/v1/locked', length), megabytes, second, megabytes);
  assert.match(answer, /^HTTP\/1\.1 401 [\s\S]*\}\}$/);
  assert.deepEqual(served, ['/v1/locked']);
});

test('100 Continue is sent neither before a refusal nor to a client of HTTP/1.0', async (t) => {
  const { port } = await serve(t);
  const expect = 'Expect: 100-continue';
  const large = await sendThenRead(port, post('/v1/echo', length, expect));
  assert.match(large, /^HTTP\/1\.1 413 /);
  const old = post('/v1/echo', 'Content-Length: 7', expect).replace('HTTP/1.1', 'HTTP/1.0');
  assert.match(await sendThenRead(port, `${old}{"a":1}`), /^HTTP\/1\.1 200 /);
});

test('a body of HTTP/1.0 must not be chunked', async (t) => {
  const { port } = await serve(t);
  const answer = await sendThenRead(
    port,
    post('/v1/echo', chunked).replace('HTTP/1.1', 'HTTP/1.0'),
    '7\r\n{"a":1}\r\n0\r\n\r\n',
  );
  assert.match(answer, /^HTTP\/1\.1 400 /);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Type } from 'typebox';
import { createLogger } from '../log/logger.ts';
import { createMetrics } from '../metrics.ts';
import { Problem } from '../problem.ts';
import { lingerLimits } from './client-error.ts';
import { listen } from './listen.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { createTestApp } from './testing/test-app.ts';

async function serve(t: TestContext) {
  const lines: string[] = [];
  const registry = createMetrics();
  const app = createTestApp({
    logger: createLogger('info', { write: (line: string) => void lines.push(line) }),
    requestMetrics: createRequestMetrics(registry),
    overHttps: true,
    minimumRate: { idle: 2_000, grace: 100, bytesPerSecond: 1_000_000 },
    linger: { ...lingerLimits, milliseconds: 100 },
  });
  const Body = Type.Object({
    count: Type.Integer({ minimum: 1 }),
    credentials: Type.Optional(Type.Object({}, { 'x-secret': true })),
  });
  app.post('/v1/things/:id', { schema: { body: Body } }, async (request) => ({ count: request.body.count }));
  app.get(
    '/v1/things',
    { schema: { querystring: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })) }) } },
    async (request) => ({ limit: request.query.limit }),
  );
  app.get('/v1/broken', async () => {
    throw new Error('the secret path /etc/shadow');
  });
  app.post(
    '/v1/locked',
    {
      onRequest: async () => {
        throw new Problem('APIKEY_VALIDATION_FAILED', 'no');
      },
    },
    async () => ({}),
  );
  const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'QUARTERMASTER_FILES_PORT' });
  t.after(() => server.close(0));
  return { url: server.url, lines, metrics: () => registry.metrics() };
}

async function raw(url: string, message: string): Promise<string> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(message);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  await once(socket, 'close');
  return answer;
}

interface ErrorBody {
  status: string;
  error: { code: string; message: string; request_id: string; details?: Array<Record<string, unknown>> };
}

async function errorOf(answer: Response): Promise<ErrorBody['error']> {
  const body = (await answer.json()) as ErrorBody;
  assert.equal(body.status, 'error');
  assert.equal(body.error.request_id, answer.headers.get('x-request-id'));
  return body.error;
}

test('unknown paths result in 404 and unknown methods in 405, in the envelope', async (t) => {
  const { url } = await serve(t);
  const missing = await fetch(`${url}/nothing`);
  assert.equal(missing.status, 404);
  assert.equal((await errorOf(missing)).code, 'OBJECT_NOT_FOUND');
  const method = await fetch(`${url}/v1/things/abc`, { method: 'DELETE' });
  assert.equal(method.status, 405);
  assert.equal(method.headers.get('allow'), 'POST');
  assert.equal((await errorOf(method)).code, 'METHOD_NOT_ALLOWED');
});

test('an invalid field is named in the error with the value found and the value expected', async (t) => {
  const { url } = await serve(t);
  const post = (body: string, type = 'application/json') =>
    fetch(`${url}/v1/things/1`, { method: 'POST', body, headers: { 'Content-Type': type } });
  const tooLarge = 'must be a number up to 1.7976931348623157e+308; received a larger number.';
  const syntax = '400 INVALID_REQUEST The body must be valid JSON; received a syntax error';
  const cases = {
    '{"count":"3"}': 'body/count must be an integer; received a string ("3").',
    '{"count":true}': 'body/count must be an integer; received a boolean (true).',
    '{}': 'body/count is required.',
    '{"count":0}': 'body/count must be at least 1; received 0.',
    '{"count":1,"credentials":"sk-123"}': 'body/credentials must be an object; received a string.',
    '{"count":': `${syntax} (it ends too early).`,
    '{"count":1,}': `${syntax} (line 1 column 12).`,
    '{"count":sk-123}': `${syntax}.`,
    '{"count":1e999}': `body/count ${tooLarge}`,
    '{"count":1,"x":[{"y":-1e999}]}': `body/x/0/y ${tooLarge}`,
    [`{"count":1${'0'.repeat(309)}}`]: `body/count ${tooLarge}`,
    '{"count":0,"x":"1e999"}': 'body/count must be at least 1; received 0.',
    [`${'['.repeat(65)}${']'.repeat(65)}`]: `400 INVALID_REQUEST The body must be nested at most 64 levels deep; received deeper nesting.`,
    '{"__proto__":{"x":1},"count":1}': `400 INVALID_REQUEST The body must not contain a property named "__proto__" or "constructor".`,
  };
  for (const [body, expected] of Object.entries(cases)) {
    const answer = await post(body);
    const error = await errorOf(answer);
    const whole = expected.startsWith('400') ? expected : `422 REQUEST_VALIDATION_ERROR ${expected}`;
    assert.equal(`${answer.status} ${error.code} ${error.message}`, whole);
  }
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/xml']) {
    const media = await post('{"count":1}', type);
    assert.deepEqual([media.status, (await errorOf(media)).code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
  }
  const large = await post(`{"count":1,"x":"${'x'.repeat(1024 * 1024)}"}`);
  assert.deepEqual([large.status, (await errorOf(large)).code], [413, 'FILE_TOO_LARGE']);
  const query = await fetch(`${url}/v1/things?limit=x`);
  assert.equal((await errorOf(query)).message, 'query/limit must be an integer; received a string ("x").');
  const infinite = await errorOf(await fetch(`${url}/v1/things?limit=-Infinity`));
  assert.equal(infinite.message, 'query/limit must be an integer; received a string ("-Infinity").');
  assert.deepEqual(await (await fetch(`${url}/v1/things?limit=5`)).json(), { limit: 5 });
});

test('the response to a defect omits the error text, and the log contains it', async (t) => {
  const { url, lines } = await serve(t);
  const answer = await fetch(`${url}/v1/broken`);
  const error = await errorOf(answer);
  assert.deepEqual([answer.status, error.code], [500, 'INTERNAL_SERVER_ERROR']);
  assert.ok(!JSON.stringify(error).includes('shadow'));
  assert.ok(lines.some((line) => line.includes('shadow') && line.includes(error.request_id)));
});

test('errors use RFC 9457 for clients that accept it', async (t) => {
  const { url } = await serve(t);
  const answer = await fetch(`${url}/nothing`, { headers: { Accept: 'application/problem+json' } });
  assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  const body = (await answer.json()) as Record<string, unknown>;
  assert.deepEqual([body.status, body.title], [404, 'OBJECT_NOT_FOUND']);
});

test('a harmless request id is accepted, and another one is replaced', async (t) => {
  const { url } = await serve(t);
  const sent = async (id: string) =>
    (await fetch(`${url}/v1/things`, { headers: { 'X-Request-Id': id } })).headers.get('x-request-id');
  assert.equal(await sent('abc-1.2_3'), 'abc-1.2_3');
  assert.match((await sent('a b')) ?? '', /^req_/);
  assert.match((await sent('x'.repeat(65))) ?? '', /^req_/);
});

const protection = [
  /\r\ncontent-security-policy: default-src 'none'; frame-ancestors 'none'\r\n/i,
  /\r\nx-content-type-options: nosniff\r\n/i,
  /\r\ncache-control: no-store\r\n/i,
  /\r\nstrict-transport-security: max-age=31536000\r\n/i,
];

test('input that is not HTTP gets the envelope and the protective headers too', async (t) => {
  const { url } = await serve(t);
  const cases = [
    ['GARBAGE\r\n\r\n', 400],
    [`GET /v1/things HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['GET /v1/things HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['GET /v1/things HTTP/1.1\r\n\r\n', 400],
    ['GET /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nauthorization: Bearer y\r\n\r\n', 400],
    ['POST /v1/things/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['GET /v1/things HTTP/1.1\r\nHost : a\r\n\r\n', 400],
    ['GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ] as const;
  for (const [message, status] of cases) {
    const answer = await raw(url, message);
    assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), `${message.slice(0, 40)}: ${answer.slice(0, 60)}`);
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as ErrorBody;
    assert.deepEqual([body.status, body.error.code], ['error', 'INVALID_REQUEST']);
    for (const header of protection) assert.match(answer, header, message.slice(0, 40));
  }
});

test('two equal Authorization headers are accepted', async (t) => {
  const { url } = await serve(t);
  const head = 'GET /v1/things HTTP/1.1\r\nHost: a\r\nConnection: close\r\n';
  const answer = await raw(url, `${head}Authorization: Bearer x\r\nAuthorization: Bearer x\r\n\r\n`);
  assert.match(answer, /^HTTP\/1\.1 200 /);
});

test('CONNECT results in 405 in the envelope', async (t) => {
  const { url } = await serve(t);
  const answer = await raw(url, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
  assert.match(answer, /^HTTP\/1\.1 405 Method Not Allowed\r\n/);
  assert.match(answer, /"code":"METHOD_NOT_ALLOWED"/);
});

test('methods that no API uses share one series of the metrics', async (t) => {
  const { url, metrics } = await serve(t);
  for (const method of ['PROPFIND', 'MKCOL', 'LOCK']) {
    assert.match(await raw(url, `${method} /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 4/);
  }
  const text = await metrics();
  assert.match(text, /quartermaster_http_requests_total\{address="files",method="other",[^}]*\} 3\n/);
  assert.doesNotMatch(text, /PROPFIND|MKCOL|LOCK/);
});

test('200 JSON bodies that arrive too slowly are refused with 408, including those that no handler reads', async (t) => {
  const { url } = await serve(t);
  const drip = async (path: string) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`,
    );
    const timer = setInterval(() => socket.write(' '), 20);
    let answer = '';
    socket
      .on('error', () => clearInterval(timer))
      .on('data', (data) => {
        answer += data;
      });
    // Not `once`, because it rejects when a write fails on the closed connection.
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(timer);
    return answer.slice(9, 12);
  };
  const [read, unread] = await Promise.all([
    Promise.all(Array.from({ length: 200 }, () => drip('/v1/things/1'))),
    Promise.all(Array.from({ length: 20 }, () => drip('/v1/locked'))),
  ]);
  assert.deepEqual([...new Set(read)], ['408']);
  assert.deepEqual([...new Set(unread)], ['401'], 'their connections are closed after the answer');
});

test('100-continue is not sent to clients without permission to send', async (t) => {
  const { url } = await serve(t);
  const message = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 11\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
  assert.match(await raw(url, message('/v1/locked')), /^HTTP\/1\.1 401 /);
  assert.match(
    await raw(url, `${message('/v1/things/1')}{"count":7}`),
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/,
  );
});

test('a request is logged with its pattern, never with its query', async (t) => {
  const { url, lines } = await serve(t);
  await fetch(`${url}/v1/things?limit=1&token=hunter2`);
  await fetch(`${url}/v1/things/some-id?token=hunter2`, { method: 'POST' });
  const log = lines.join('');
  assert.ok(log.includes('"route":"/v1/things/:id"'));
  assert.ok(!log.includes('hunter2') && !log.includes('some-id'));
});

test('requests are counted by route and status, with a histogram of their durations', async (t) => {
  const { url, metrics } = await serve(t);
  for (const path of ['/v1/things', '/v1/things?limit=3', '/v1/things?limit=x']) await fetch(url + path);
  const labels = 'address="files",method="GET",route="/v1/things"';
  const text = await metrics();
  assert.match(text, new RegExp(`quartermaster_http_requests_total{${labels},status="200"} 2\\n`));
  assert.match(text, new RegExp(`quartermaster_http_requests_total{${labels},status="422"} 1\\n`));
  assert.match(text, new RegExp(`quartermaster_http_request_seconds_bucket{le="\\+Inf",${labels},status="200"} 2\\n`));
  assert.match(text, new RegExp(`quartermaster_http_request_seconds_count{${labels},status="200"} 2\\n`));
});

test('a stream that ends during the shutdown does not delay it', async (t) => {
  const app = createTestApp();
  // Without a keep-alive limit, only the shutdown can end the connection.
  app.server.keepAliveTimeout = 0;
  const stream = new PassThrough();
  app.get('/v1/stream', (_request, reply) => reply.type('text/event-stream').send(stream));
  const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'QUARTERMASTER_FILES_PORT' });
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write('GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  stream.write('data: 1\n\n');
  await once(socket, 'data');
  const stopped = server.close(600_000);
  await new Promise(setImmediate);
  stream.end('data: last\n\n');
  let rest = '';
  socket.on('data', (data) => {
    rest += data;
  });
  await Promise.all([stopped, once(socket, 'close')]);
  assert.match(rest, /data: last/);
});

test('escaped member names are read correctly, whatever bodies were read before', async (t) => {
  const app = createTestApp({
    minimumRate: { idle: 2_000, grace: 100, bytesPerSecond: 1_000_000 },
    linger: { ...lingerLimits, milliseconds: 100 },
  });
  t.after(() => app.close());
  app.post('/v1/echo', async (request) => request.body);
  const send = async (payload: string) => {
    const headers = { 'content-type': 'application/json' };
    return app.inject({ method: 'POST', url: '/v1/echo', headers, payload });
  };
  await send(String.raw`{"h":[],"\\":0}`);
  assert.equal((await send(String.raw`{"h":1,"\"":2}`)).body, String.raw`{"h":1,"\"":2}`);
  // When read wrongly, this name would pass as harmless.
  await send(String.raw`{"h":[],"\u005f_pr":0}`);
  assert.equal((await send(String.raw`{"h":1,"\u005f_proto__":{}}`)).statusCode, 400);
});

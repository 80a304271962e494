import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Bundle } from '@quartermaster/contract';
import { serve } from '../support/http.ts';
import { startService } from '../support/service.ts';

/** A request to a server on 127.0.0.1 that replaces the hosts of the tests. The tests define its responses. */
interface ReceivedRequest {
  readonly host: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const token = 'token-7f1c09d2aa';
const picture = Buffer.from('89504e470d0a1a0a00ff00fe', 'hex');
const credentials = { HTTP_HOST: 'api.example.com', HTTP_BEARER_TOKEN: token };

async function startApi(t: TestContext, name: string, received: ReceivedRequest[]): Promise<string> {
  return await serve(t, async (request, response) => {
    const { method = '', url = '', headers } = request;
    received.push({ host: name, method, url, headers, body: await text(request) });
    answer(request, response);
  });
}

function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const path = url.split('?')[0];
  if (path === '/picture') return void response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
  if (path === '/latin') {
    response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from('caf\xe9', 'latin1'));
  } else if (path === '/large') response.writeHead(200).end('a'.repeat(600_000));
  else if (path === '/gone') response.writeHead(410, { 'content-type': 'application/json' }).end('{"gone":true}');
  else if (path === '/elsewhere') response.writeHead(302, { location: 'https://other.example.com/landed' }).end();
  else if (path === '/outside') response.writeHead(302, { location: 'https://evil.example.com/' }).end();
  else {
    const echoed = { authorization: headers.authorization ?? null, key: headers['x-key'] ?? null };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(echoed));
  }
}

async function openWorld(t: TestContext, settings: Record<string, string> = {}) {
  const received: ReceivedRequest[] = [];
  const hosts = ['api.example.com', 'other.example.com', 'evil.example.com'];
  const overrides: Record<string, string> = {};
  for (const host of hosts) overrides[`https://${host}`] = await startApi(t, host, received);
  const service = await startService(t, {
    settings: { EGRESS_OVERRIDES: JSON.stringify(overrides), ...settings },
  });
  async function execute(pluginId: string, input: Record<string, unknown>, credentials: Record<string, string> = {}) {
    const response = await fetch(`${service.pluginsUrl}/v1/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ bundle_id: 'http_request', plugin_id: pluginId, input_params: input, credentials: credentials },
      }),
    });
    const whole = await response.text();
    assert.ok(!whole.includes(token), 'a credential is never seen');
    const body = JSON.parse(whole);
    return { status: response.status, output: body.data?.data, error: body.error };
  }
  return { service, execute, asked: received };
}

const allowed = {
  BUNDLE_HOSTS: JSON.stringify({ http_request: ['api.example.com', 'other.example.com', '127.0.0.1'] }),
};

test('requests are refused until the operator allows hosts, and the error says so', async (t) => {
  const { execute, asked: received, service } = await openWorld(t);
  const { status, error } = await execute('http_get', { url: 'https://api.example.com/' });
  assert.deepEqual([status, error.code], [502, 'PROVIDER_ERROR']);
  assert.match(
    error.message,
    /"api\.example\.com" is not one that the operator allows this bundle, see QUARTERMASTER_BUNDLE_HOSTS/,
  );
  assert.deepEqual(received, []);
  const listed = (await (await fetch(`${service.pluginsUrl}/v1/bundles`)).json()) as { data: Bundle[] };
  const bundle = listed.data.find((one) => one.bundle_id === 'http_request');
  assert.deepEqual([bundle?.hosts, bundle?.hosts_by], [[], 'operator']);
});

test('only hosts that the operator allows are reached, whatever input and redirects contain', async (t) => {
  const { execute, asked: received } = await openWorld(t, allowed);
  assert.equal((await execute('http_get', { url: 'https://api.example.com/' })).status, 200);
  const landed = await execute('http_get', { url: 'https://api.example.com/elsewhere' });
  assert.equal(landed.output.status, 200);
  assert.deepEqual(
    received.map(({ host, url }) => `${host}${url}`),
    ['api.example.com/', 'api.example.com/elsewhere', 'other.example.com/landed'],
  );
  for (const [url, reason] of [
    ['https://evil.example.com/', /"evil\.example\.com" is not one that the operator allows/],
    ['https://api.example.com/outside', /"evil\.example\.com" is not one that the operator allows/],
    ['https://api.example.com:8443/', /"api\.example\.com:8443" is not one that the operator allows/],
    ['https://api.example.com@evil.example.com/', /user name or a password/],
    ['https://api.example.com.evil.example.com/', /is not one that the operator allows/],
    // A setting that allows a host by name does not allow its address.
    ['http://127.0.0.1/', /is not an address of the public internet/],
  ] as const) {
    const { status, error } = await execute('http_get', { url });
    assert.deepEqual([status, error.code], [502, 'PROVIDER_ERROR'], url);
    assert.match(error.message, reason);
  }
  assert.ok(received.every(({ host }) => host !== 'evil.example.com'));
});

test('credentials are sent only to the host to which they belong', async (t) => {
  const { execute, asked: received } = await openWorld(t, allowed);
  const sent = () => received.map(({ host, headers }) => [host, headers.authorization ?? headers['x-key'] ?? null]);
  await execute('http_get', { url: 'https://api.example.com/' }, credentials);
  await execute('http_get', { url: 'https://other.example.com/' }, credentials);
  await execute('http_get', { url: 'https://api.example.com/elsewhere' }, credentials);
  assert.deepEqual(sent(), [
    ['api.example.com', `Bearer ${token}`],
    ['other.example.com', null],
    ['api.example.com', `Bearer ${token}`],
    ['other.example.com', null],
  ]);
  received.length = 0;
  const basic = { HTTP_HOST: 'api.example.com:443', HTTP_USERNAME: 'ada', HTTP_PASSWORD: token };
  await execute('http_get', { url: 'https://api.example.com/' }, basic);
  const key = { HTTP_HOST: 'api.example.com', HTTP_HEADER_NAME: 'X-Key', HTTP_HEADER_VALUE: token };
  await execute('http_get', { url: 'https://api.example.com/', headers: [{ name: 'x-key', value: 'mine' }] }, key);
  assert.deepEqual(sent(), [
    ['api.example.com', `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`],
    ['api.example.com', token],
  ]);
  for (const [credentials, path] of [
    [{ HTTP_BEARER_TOKEN: token }, /HTTP_HOST/],
    [
      { ...key, HTTP_HEADER_NAME: 'Host' },
      /HTTP_HEADER_NAME must be a value that can be sent; received a value that cannot be the name of a header/,
    ],
    [
      { ...key, HTTP_HEADER_NAME: 'X Key' },
      /HTTP_HEADER_NAME must be a value that can be sent; received a value that cannot be the name of a header/,
    ],
  ] as const) {
    const { status, error } = await execute('http_get', { url: 'https://api.example.com/' }, credentials);
    assert.equal(status, 422);
    assert.match(error.message, path);
  }
  const plain = await execute('http_get', { url: 'http://api.example.com/' }, credentials);
  assert.match(plain.error.message, /the scheme "http" is not allowed/);
});

test('every response is returned by its type: JSON, text in any charset, bytes, nothing', async (t) => {
  const { execute } = await openWorld(t, allowed);
  const read = async (path: string, more: Record<string, unknown> = {}) =>
    (await execute('http_get', { url: `https://api.example.com${path}`, ...more })).output;
  const gone = await read('/gone');
  assert.deepEqual([gone.status, gone.kind, gone.json, gone.text], [410, 'json', { gone: true }, null]);
  const latin = await read('/latin');
  assert.deepEqual([latin.kind, latin.text, latin.json], ['text', 'café', null]);
  const image = await read('/picture');
  assert.deepEqual([image.kind, image.content_type, image.base64], ['binary', 'image/png', picture.toString('base64')]);
  const head = await read('/picture', { method: 'HEAD' });
  assert.deepEqual([head.status, head.kind, head.base64], [200, 'empty', null]);
  const large = await execute('http_get', { url: 'https://api.example.com/large' });
  assert.deepEqual([large.status, large.error.code], [502, 'PROVIDER_ERROR']);
  assert.match(large.error.message, /larger than 524288 bytes/);
});

test('a request has at most one body: JSON, a form or text', async (t) => {
  const { execute, asked: received } = await openWorld(t, allowed);
  const send = (input: Record<string, unknown>) =>
    execute('http_send', { url: 'https://api.example.com/', method: 'POST', ...input });
  await send({ json: '{"a":1}' });
  await send({
    form: [
      { name: 'a', value: '1' },
      { name: 'a', value: 'é&' },
    ],
  });
  await send({ text: '<a/>', headers: [{ name: 'Content-Type', value: 'application/xml' }] });
  await send({ method: 'DELETE' });
  assert.deepEqual(
    received.map(({ method, headers, body }) => [method, headers['content-type'] ?? null, body]),
    [
      ['POST', 'application/json', '{"a":1}'],
      ['POST', 'application/x-www-form-urlencoded', 'a=1&a=%C3%A9%26'],
      ['POST', 'application/xml', '<a/>'],
      ['DELETE', null, ''],
    ],
  );
  for (const input of [
    { json: '{}', text: 'a' },
    { json: '{' },
    {
      headers: [
        { name: 'A', value: '1' },
        { name: 'a', value: '2' },
      ],
    },
  ]) {
    assert.equal((await send(input)).status, 422, JSON.stringify(input));
  }
  const host = await send({ headers: [{ name: 'Host', value: 'evil.example.com' }] });
  assert.match(host.error.message, /the header "Host|the header "host" may not be set/);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endedRun } from '../support/client.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const manifest = `id: send
name: Send
description: Sends numbers.
request:
  method: POST
  url: https://api.example.com/items/{id}
  query: {id: "{id}"}
  headers: {x-item: "{id}"}
  body: {id: "{id}", list: "{list}", nested: {list: "{list}"}}
response: {output: "{id: body.id, list: body.list[].id, all: body}"}
input_schema:
  type: object
  additionalProperties: false
  properties:
    id: {type: integer, minimum: -9223372036854775808, maximum: 9223372036854775807, description: An id.}
    list: {type: array, description: Ids., items: {type: [integer, "null"]}, default: []}
output_schema:
  type: object
  properties:
    id: {type: integer, description: The id.}
    list: {type: array, description: The ids., items: {type: number}}
    all: {type: object, description: The whole answer.}
effects: write
idempotent: true
`;

const handlerManifest = `id: handle
name: Handle
description: Returns its input.
handler: handler.ts
input_schema: {type: object, properties: {id: {type: integer, description: An id.}}}
output_schema: {type: object, properties: {id: {description: The id.}}}
effects: read
idempotent: true
`;

const answer =
  '{"id":1234567890123456789,"list":[{"id":-1234567890123456789},{"id":18446744073709551615},{"id":7}],"__proto__":{"id":9007199254740993},"far":1e999}';

async function openWorld(t: TestContext) {
  const requests: Array<{ url: string; item: unknown; body: string }> = [];
  const upstream = createServer(async (request: IncomingMessage, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    requests.push({ url: request.url ?? '', item: request.headers['x-item'], body });
    response.setHeader('content-type', 'application/json').end(answer);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  t.after(() => upstream.close());
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'numbers'));
  const about =
    'version: 1.0.0\nname: Numbers\ndescription: Sends numbers.\nprovider: Example\ndeveloper: Quartermaster\nhosts: [api.example.com]\n';
  await writeFile(join(folder, 'numbers', 'bundle.yaml'), `id: numbers\n${about}`);
  await writeFile(join(folder, 'numbers', 'send.yaml'), manifest);
  await writeFile(join(folder, 'numbers', 'handle.yaml'), handlerManifest);
  await writeFile(join(folder, 'numbers', 'handler.ts'), 'export const run = ({ id }) => ({ id });');
  const { port } = upstream.address() as AddressInfo; // it listens on a port
  const EGRESS_OVERRIDES = JSON.stringify({ 'https://api.example.com': `http://127.0.0.1:${port}` });
  const service = await startService(t, { settings: { BUNDLES: folder, ISOLATION: 'process', EGRESS_OVERRIDES } });
  const send = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${service.pluginsUrl}${path}`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', authorization: `Bearer ${service.key}` },
        ...{ accept: 'application/json, text/event-stream', ...headers },
      },
      body,
    });
    return { status: response.status, text: await response.text() };
  };
  return { service, send, requests };
}

const input = '{"id":-1234567890123456789,"list":[9007199254740993,null,7]}';
const call = (plugin: string, params: string) =>
  `{"bundle_id":"numbers","plugin_id":"${plugin}","input_params":${params},"credentials":{}}`;
const mapped = '"id":1234567890123456789,"list":[-1234567890123456789,18446744073709551615,7]';
const whole = '"__proto__":{"id":9007199254740993},"far":"1e999"}';

test('[large-integers] integers beyond 2^53 keep their digits in both directions, over each way', async (t) => {
  const { service, send, requests } = await openWorld(t);
  const has = (text: string) => text.includes(mapped) && text.includes(whole);
  const headers = { 'idempotency-key': 'one' };
  for (const round of ['first', 'repetition']) {
    const { status, text } = await send('/v1/execute', call('send', input), headers);
    assert.equal(status, 200, text);
    assert.ok(has(text), `${round}: ${text}`);
    assert.ok(!text.includes('output_violations'), text);
  }
  assert.deepEqual(requests, [
    {
      url: '/items/-1234567890123456789?id=-1234567890123456789',
      item: '-1234567890123456789',
      body: '{"id":-1234567890123456789,"list":[9007199254740993,null,7],"nested":{"list":[9007199254740993,null,7]}}',
    },
  ]);
  const direct = await send('/v1/bundles/numbers/plugins/send/execute', input);
  assert.ok(has(direct.text), direct.text);

  const mcp = await send(
    '/mcp/numbers',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":${input}}}`,
    { 'mcp-protocol-version': '2025-06-18' },
  );
  assert.ok(has(mcp.text), mcp.text);
  assert.ok(has(mcp.text.replaceAll('\\"', '"').replace(mapped, '').replace(whole, '')), 'also as text');

  const accepted = await send('/v1/execute', call('send', input), { prefer: 'respond-async' });
  const runId = /"run_id":"([^"]+)"/.exec(accepted.text)?.[1];
  const get = async (path: string) =>
    await (await fetch(`${service.pluginsUrl}${path}`, { headers: { authorization: `Bearer ${service.key}` } })).text();
  await endedRun(service.client, runId ?? '');
  const stored = await get(`/v1/runs/${runId}`);
  assert.ok(has(stored), stored);
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
  assert.equal(requests.length, 4);
});

test('[large-integers] the schema applies to large integers, and a handler receives them as text', async (t) => {
  const { service, send } = await openWorld(t);
  const wrong = await send('/v1/execute', call('send', '{"id":19223372036854775807}'));
  assert.equal(wrong.status, 422, wrong.text);
  assert.match(wrong.text, /input_params\/id must be at most 9223372036854775807|must be at most/);
  const run = await service.client.plugins.run('numbers/send', { id: 7 });
  assert.equal((run.data as { id: unknown }).id, '1234567890123456789');
  const far = await send('/v1/execute', call('send', '{"id":1e999}'));
  assert.equal(far.status, 422, far.text);
  const handled = await send('/v1/execute', call('handle', '{"id":1234567890123456789}'));
  assert.match(handled.text, /"data":\{"id":"1234567890123456789"\}/);
  const sum = await service.client.plugins.run('arithmetic/add', { number_1: 2n ** 60n, number_2: 1 });
  assert.deepEqual(sum.data, { result: String(2 ** 60) }, 'a handler calculates with a number');
});

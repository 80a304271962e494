import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { endedRun } from '../support/client.ts';
import { send, serve } from '../support/http.ts';
import { share, startService, temporaryFolder } from '../support/service.ts';
import { writeBundle } from '../support/write-bundle.ts';

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

const shared = share(async (t) => {
  const requests: Array<{ url: string; item: unknown; body: string }> = [];
  const origin = await serve(t, async (request: IncomingMessage, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    requests.push({ url: request.url ?? '', item: request.headers['x-item'], body });
    response.setHeader('content-type', 'application/json').end(answer);
  });
  const folder = await temporaryFolder(t);
  await writeBundle(folder, 'numbers', {
    more: 'hosts: [api.example.com]',
    ...{ 'send.yaml': manifest, 'handle.yaml': handlerManifest },
    'handler.ts': 'export const run = ({ id }) => ({ id });',
  });
  const EGRESS_OVERRIDES = JSON.stringify({ 'https://api.example.com': origin });
  const service = await startService(t, { settings: { BUNDLES: folder, ISOLATION: 'process', EGRESS_OVERRIDES } });
  const ask = (path: string, body?: string, headers: Record<string, string> = {}) =>
    send(service.pluginsUrl + path, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      key: service.key,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...{ accept: 'application/json, text/event-stream', ...headers },
      },
    });
  return { service, ask, requests };
});

const input = '{"id":-1234567890123456789,"list":[9007199254740993,null,7]}';
const call = (plugin: string, params: string) =>
  `{"bundle_id":"numbers","plugin_id":"${plugin}","input_params":${params},"credentials":{}}`;
const mapped = '"id":1234567890123456789,"list":[-1234567890123456789,18446744073709551615,7]';
const whole = '"__proto__":{"id":9007199254740993},"far":"1e999"}';

test('[large-integers] integers beyond 2^53 keep their digits in both directions, over each way', async () => {
  const { service, ask, requests } = await shared();
  const has = (text: string) => text.includes(mapped) && text.includes(whole);
  const headers = { 'idempotency-key': 'one' };
  for (const round of ['first', 'repetition']) {
    const { status, text } = await ask('/v1/execute', call('send', input), headers);
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
  const direct = await ask('/v1/bundles/numbers/plugins/send/execute', input);
  assert.ok(has(direct.text), direct.text);

  const mcp = await ask(
    '/mcp/numbers',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":${input}}}`,
    { 'mcp-protocol-version': '2025-06-18' },
  );
  assert.ok(has(mcp.text), mcp.text);
  assert.ok(has(mcp.text.replaceAll('\\"', '"').replace(mapped, '').replace(whole, '')), 'also as text');

  const accepted = await ask('/v1/execute', call('send', input), { prefer: 'respond-async' });
  const runId = /"run_id":"([^"]+)"/.exec(accepted.text)?.[1];
  await endedRun(service.client, runId ?? '');
  const { text: stored } = await ask(`/v1/runs/${runId}`);
  assert.ok(has(stored), stored);
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
  assert.equal(requests.length, 4);
});

test('[large-integers] the schema applies to large integers, and a handler receives them as text', async () => {
  const { service, ask } = await shared();
  const wrong = await ask('/v1/execute', call('send', '{"id":19223372036854775807}'));
  assert.equal(wrong.status, 422, wrong.text);
  assert.match(wrong.text, /input_params\/id must be at most 9223372036854775807|must be at most/);
  const run = await service.client.plugins.run('numbers/send', { id: 7 });
  assert.equal((run.data as { id: unknown }).id, '1234567890123456789');
  const far = await ask('/v1/execute', call('send', '{"id":1e999}'));
  assert.equal(far.status, 422, far.text);
  const handled = await ask('/v1/execute', call('handle', '{"id":1234567890123456789}'));
  assert.match(handled.text, /"data":\{"id":"1234567890123456789"\}/);
  const sum = await service.client.plugins.run('arithmetic/add', { number_1: 2n ** 60n, number_2: 1 });
  assert.deepEqual(sum.data, { result: String(2 ** 60) }, 'a handler calculates with a number');
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { readAnswer } from '../support/http.ts';
import { assertAccepted, assertRefused, json, limitedService } from '../support/limits.ts';

const limited = limitedService();

/** Sends a request with exactly these headers. */
async function sendRaw(lines: readonly string[]) {
  const { hostname, port } = new URL(limited.service.filesUrl);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  socket.write(`${['GET /v1/version HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`);
  await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return readAnswer(Number(head.split(' ')[1]), body);
}

test('the limit header_bytes accepts headers of exactly its size and refuses one byte more', async () => {
  const row = { value: 16_384, status: 431, code: 'INVALID_REQUEST' };
  const fixed = ['Host: a', 'Connection: close'];
  const used = '/v1/version'.length + fixed.join('').length - 2 * ': '.length + 'X'.length;
  const headers = (bytes: number) => [...fixed, `X: ${'x'.repeat(bytes - used)}`];
  assertAccepted(await sendRaw(headers(row.value)));
  assertRefused(row, await sendRaw(headers(row.value + 1)));
});

test('the limit header_count accepts exactly as many headers and refuses one more', async () => {
  const row = { value: 200, status: 400, code: 'INVALID_REQUEST' };
  const headers = (count: number) => [
    'Host: a',
    'Connection: close',
    ...Array.from({ length: count - 2 }, (_, index) => `X-${index}: 1`),
  ];
  assertAccepted(await sendRaw(headers(row.value)));
  assertRefused(row, await sendRaw(headers(row.value + 1)));
});

test('the limit json_body_bytes accepts a body of exactly its size and refuses one byte more', async () => {
  const row = limited.limit('json_body_bytes');
  const url = `${limited.service.filesUrl}/v1/collections`;
  const body = (bytes: number) => json(`{"name":"a"}`.padEnd(bytes));
  assertAccepted(await limited.send(url, body(row.value)));
  assertRefused(row, await limited.send(url, body(row.value + 1)));
});

test('the limit json_depth accepts a body of exactly as many levels and refuses one more', async () => {
  const row = { value: 64, status: 400, code: 'INVALID_REQUEST' };
  const url = `${limited.service.filesUrl}/v1/collections`;
  const body = (levels: number) => {
    const inner = levels - 2;
    return json(`{"metadata":{"a":${'['.repeat(inner)}${']'.repeat(inner)}}}`);
  };
  assertAccepted(await limited.send(url, body(row.value)));
  assertRefused(row, await limited.send(url, body(row.value + 1)));
});

test('the limit json_members accepts exactly as many members and items and refuses one more', async () => {
  const row = { value: 50_000, status: 400, code: 'INVALID_REQUEST' };
  const url = `${limited.service.pluginsUrl}/v1/execute`;
  const wanted = '"bundle_id":"no_such_bundle","plugin_id":"a","credentials":{}';
  const body = (count: number) => {
    // The body has five members and the items of two arrays. Empty arrays and objects have none.
    const items = count - 5 - 1;
    const list = Array.from({ length: items }, (_, index) => ['1', '{}', ' [ ] ', '"[,"'][index % 4]).join(',');
    return json(`{${wanted},"input_params":{"a":[${list},[]]}}`);
  };
  // An accepted body reaches the catalogue, which does not know the plugin.
  const { status, code } = await limited.send(url, body(row.value));
  assert.deepEqual([status, code], [404, 'OBJECT_NOT_FOUND']);
  assertRefused(row, await limited.send(url, body(row.value + 1)));
});

test('the limit json_escaped_names accepts a body of exactly as many escaped names and refuses one more', async () => {
  const row = { value: 10_000, status: 400, code: 'INVALID_REQUEST' };
  const url = `${limited.service.filesUrl}/v1/collections`;
  const names = (count: number) => Array.from({ length: count }, (_, index) => `"\\"${index}":1`).join(',');
  const body = (count: number) => json(`{"name":"a","extra":{${names(count)}}}`);
  assertAccepted(await limited.send(url, body(row.value)));
  assertRefused(row, await limited.send(url, body(row.value + 1)));
});

test('the limit json_large_numbers accepts a body of exactly as many integers beyond 2^53 and refuses one more', async () => {
  const row = { value: 10_000, status: 400, code: 'INVALID_REQUEST' };
  const url = `${limited.service.pluginsUrl}/v1/execute`;
  const wanted = '"bundle_id":"no_such_bundle","plugin_id":"a","credentials":{}';
  const body = (count: number) =>
    json(`{${wanted},"input_params":{"a":[${Array(count).fill('9007199254740993').join()}]}}`);
  const { status, code } = await limited.send(url, body(row.value));
  assert.deepEqual([status, code], [404, 'OBJECT_NOT_FOUND']);
  assertRefused(row, await limited.send(url, body(row.value + 1)));
});

async function execute(credentials: Record<string, string>) {
  const input_params = { expression: '1+1' };
  return await limited.send(
    `${limited.service.pluginsUrl}/v1/execute`,
    json({ bundle_id: 'calculator', plugin_id: 'evaluate', input_params, credentials }),
  );
}

const members = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${String(index).padStart(3, '0')}`, value]));

test('the limit credential_members accepts exactly as many credentials and refuses one more', async () => {
  const row = { value: 32, status: 422, code: 'REQUEST_VALIDATION_ERROR' };
  assertAccepted(await execute(members(row.value, 'x')));
  assertRefused(row, await execute(members(row.value + 1, 'x')));
});

test('the limit credential_value_bytes accepts a credential of exactly its size and refuses one byte more', async () => {
  const row = { value: 8192, status: 422, code: 'REQUEST_VALIDATION_ERROR' };
  assertAccepted(await execute({ key: 'x'.repeat(row.value) }));
  assertRefused(row, await execute({ key: 'x'.repeat(row.value + 1) }));
});

test('the limit credential_bytes accepts credentials of exactly its size together and refuses one byte more', async () => {
  const row = { value: 32_768, status: 422, code: 'REQUEST_VALIDATION_ERROR' };
  const each = row.value / 16 - 'k000'.length;
  assertAccepted(await execute(members(16, 'x'.repeat(each))));
  assertRefused(row, await execute({ ...members(16, 'x'.repeat(each)), k015: 'x'.repeat(each + 1) }));
});

test('the limit input_members accepts exactly as many members of input_params and refuses one more', async () => {
  const row = { value: 10_000, status: 422, code: 'REQUEST_VALIDATION_ERROR' };
  const url = `${limited.service.pluginsUrl}/v1/execute`;
  const ask = (count: number) =>
    limited.send(
      url,
      json({ bundle_id: 'no_such_bundle', plugin_id: 'a', input_params: members(count, 'x'), credentials: {} }),
    );
  // An accepted request reaches the catalogue, which does not know the plugin.
  const { status, code } = await ask(row.value);
  assert.deepEqual([status, code], [404, 'OBJECT_NOT_FOUND']);
  assertRefused(row, await ask(row.value + 1));
});

test('a batch of JSON-RPC messages and an id that no answer can repeat exactly are refused', async () => {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const ping = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
  for (const [body, reason] of [
    [`[${ping('1')}]`, /batches are not accepted/],
    [ping('12345678901234567'), /`id` must be/],
    [ping('1.5'), /`id` must be/],
  ] as const) {
    const answer = await limited.send(`${limited.service.pluginsUrl}/mcp`, { method: 'POST', body, headers });
    assert.deepEqual([answer.status, answer.body.error.code], [400, -32600]);
    assert.match(answer.body.error.message, reason);
  }
  const { status } = await limited.send(`${limited.service.pluginsUrl}/mcp`, {
    method: 'POST',
    body: ping('7'),
    headers,
  });
  assert.equal(status, 200);
});

test('the limit idempotency_wrong_requests compares exactly as many other requests and refuses one more', async () => {
  const row = { value: 10, status: 409, code: 'DUPLICATE_OBJECT' };
  const first = (await limited.send(`${limited.service.pluginsUrl}/metrics`)).message;
  const calculate = async (credential: string) => {
    const call = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '1+1' } };
    const { headers, ...init } = json({ ...call, credentials: { credential } });
    const url = `${limited.service.pluginsUrl}/v1/execute`;
    return await limited.send(url, { ...init, headers: { ...headers, 'Idempotency-Key': 'order-1' } });
  };
  assertAccepted(await calculate('right'));
  for (let n = 0; n < row.value; n++) assert.equal((await calculate(`guess ${n}`)).status, 422);
  assertRefused(row, await calculate('guess'));
  assertRefused(row, await calculate('right'));
  assert.doesNotMatch(first, /limit="idempotency_wrong_requests"/);
  const { message } = await limited.send(`${limited.service.pluginsUrl}/metrics`);
  assert.match(message, /^quartermaster_limit_exceeded_total\{limit="idempotency_wrong_requests"\} 2$/m);
});

test('the limit profiles_of_project accepts exactly as many credential profiles and refuses one more', async () => {
  const row = { value: 1000, status: 429, code: 'RESOURCE_LIMIT_REACHED' };
  const url = `${limited.service.pluginsUrl}/v1/credential_profiles`;
  const create = (name: string) => limited.send(url, json({ name, bundle_id: 'calculator', credentials: {} }));
  for (let count = 1; count <= row.value; count += 1) assertAccepted(await create(`p${count}`));
  assertRefused(row, await create('one-more'));
  assert.equal((await create('p1')).code, 'DUPLICATE_OBJECT');
  assertAccepted(await limited.send(`${url}/p1`, { method: 'DELETE' }));
  assertAccepted(await create('one-more'));
});

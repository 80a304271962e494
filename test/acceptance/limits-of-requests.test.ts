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

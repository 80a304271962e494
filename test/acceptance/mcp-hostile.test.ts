import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { send } from '../support/http.ts';
import { share, startService } from '../support/service.ts';

const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const post = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  send(url, { method: 'POST', headers: { ...json, ...headers }, body });

/** Sends the bytes unchanged and returns the status of the response. */
async function raw(url: string, head: readonly string[], body = ''): Promise<number> {
  const socket = connect({ host: new URL(url).hostname, port: Number(new URL(url).port) });
  const lines = [...head, `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'];
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  let answer = '';
  for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
  return Number(answer.slice(9, 12));
}

const shared = share((t) => startService(t, { settings: { MCP_HOSTS: 'tools.example.com' } }));

test('[mcp] malformed messages get JSON-RPC errors, and the service continues', async () => {
  const { pluginsUrl, log } = await shared();
  const rpc = (message: unknown) => JSON.stringify(message);
  const call = (params: unknown) => rpc({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const messages: Array<[string | Uint8Array<ArrayBuffer>, number[]]> = [
    ['', [400]],
    ['{', [400]],
    ['nonsense', [400]],
    [new Uint8Array([0xff, 0xfe, 0x7b]), [400]],
    ['null', [400]],
    ['5', [400]],
    ['"text"', [400]],
    ['[]', [400, 202]],
    ['{}', [400]],
    [rpc({ jsonrpc: '1.0', id: 1, method: 'ping' }), [400]],
    [rpc({ jsonrpc: '2.0', id: null, method: 'ping' }), [400]],
    [rpc({ jsonrpc: '2.0', id: {}, method: 'ping' }), [400]],
    [rpc({ jsonrpc: '2.0', id: 1, method: 5 }), [400]],
    [rpc({ jsonrpc: '2.0', id: 1, result: {} }), [202, 400]],
    [rpc(Array.from({ length: 11 }, () => JSON.parse(ping))), [400]],
    ['{"__proto__":{"method":"ping"},"jsonrpc":"2.0","id":1}', [400]],
    [rpc({ jsonrpc: '2.0', id: 1, method: 'no/such' }), [200]],
    [rpc({ jsonrpc: '2.0', id: 1, method: '__proto__' }), [200]],
    [call(5), [200, 400]],
    [call({}), [200]],
    [call({ name: 7 }), [200]],
    [call({ name: '__proto__', arguments: {} }), [200]],
    [call({ name: 'arithmetic__add', arguments: [] }), [200]],
    [rpc({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x' } }), [200]],
  ];
  for (const path of ['/mcp', '/mcp/arithmetic']) {
    for (const [body, expected] of messages) {
      const { status, text } = await post(pluginsUrl + path, body);
      assert.ok(expected.includes(status), `${body}: ${status} ${text}`);
      if (status !== 202) assert.ok('error' in JSON.parse(text), `${body}: ${text}`);
    }
  }
  assert.equal((await post(`${pluginsUrl}/mcp`, ping)).status, 200);
  assert.doesNotMatch(log(), /"level":"(error|fatal)"/);
});

test('[mcp] contradictory requests of the newest revision are refused', async () => {
  const { pluginsUrl } = await shared();
  const url = `${pluginsUrl}/mcp`;
  const call = (meta: object) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: { ...modernMeta, ...meta } } });
  const good = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' };
  assert.equal((await post(url, call({}), good)).status, 200);
  assert.equal((await post(url, call({}), { ...good, 'Mcp-Method': 'tools/call' })).status, 400);
  assert.equal((await post(url, call({}), { ...good, 'MCP-Protocol-Version': '2025-11-25' })).status, 400);
  const unknown = { 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
  assert.equal((await post(url, call(unknown), { ...good, 'MCP-Protocol-Version': '2031-01-01' })).status, 400);
});

test('[mcp] bodies that are too large or too deeply nested are refused before they are processed', async () => {
  const { pluginsUrl } = await shared();
  const url = `${pluginsUrl}/mcp`;
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`;
  assert.equal((await post(url, deep)).status, 400);
  assert.equal((await post(url, '['.repeat(500_000))).status, 400);
  const large = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: 'x'.repeat(2 * 1024 ** 2) } });
  assert.equal((await post(url, large)).status, 413);
  assert.equal((await post(url, ping, { 'Content-Type': 'text/plain' })).status, 415);
  assert.equal((await post(url, ping, { Accept: 'text/html' })).status, 406);
  assert.equal((await post(url, ping)).status, 200);
});

test('[mcp] every Accept header that includes JSON is served, also with null params and a slash after the path', async () => {
  const { filesUrl, pluginsUrl, key } = await shared();
  const call = (params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const add = { name: 'arithmetic__add', arguments: { number_1: 1, number_2: 2 } };
  const bodies = [ping, JSON.stringify({ ...JSON.parse(ping), params: null }), call(add)];
  for (const url of [filesUrl, pluginsUrl]) {
    const head = [`Host: ${new URL(url).host}`, 'Content-Type: application/json', `Authorization: Bearer ${key}`];
    for (const accept of [[], ['*/*'], ['application/json'], ['application/*'], ['application/json, */*;q=0.5']]) {
      for (const body of bodies) {
        const lines = [...head, ...accept.map((ranges) => `Accept: ${ranges}`)];
        assert.equal(await raw(url, lines, body), 200, `${accept} ${body}`);
      }
    }
    assert.equal(await raw(url, [...head, 'Accept: text/event-stream'], ping), 406);
  }
  const headers = { Authorization: `Bearer ${key}` };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const params of [null, { cursor: null }, { _meta: null }]) {
    const { status, text } = await post(`${pluginsUrl}/mcp`, JSON.stringify({ ...list, params }), headers);
    assert.deepEqual([status, JSON.parse(text).error], [200, undefined], JSON.stringify(params));
  }
  const called = await post(`${pluginsUrl}/mcp`, call({ name: 'search_tools', arguments: null }), headers);
  assert.doesNotMatch(called.text, /-32602/);
  // Without a type for events, a call that asks for progress is answered with JSON.
  const progress = { ...add, _meta: { progressToken: 1 } };
  const reply = await post(`${pluginsUrl}/mcp`, call(progress), { ...headers, Accept: 'application/json' });
  assert.equal(JSON.parse(reply.text).result.isError, undefined, reply.text);
  for (const path of ['/mcp/', '/mcp/arithmetic/', '/mcp/arithmetic']) {
    assert.equal((await post(`${pluginsUrl}${path}`, JSON.stringify(list), headers)).status, 200, path);
  }
});

test('[mcp] a foreign Host or Origin is refused even with a key, and configured names are accepted', async () => {
  const { pluginsUrl, key } = await shared();
  const { host } = new URL(pluginsUrl);
  const rest = [...Object.entries(json).map(([name, value]) => `${name}: ${value}`), `Authorization: Bearer ${key}`];
  const status = (...head: string[]) => raw(pluginsUrl, [...head, ...rest], ping);
  for (const name of [host, 'localhost', 'localhost:1', '[::1]:8081', 'tools.example.com', 'TOOLS.example.com:443']) {
    assert.equal(await status(`Host: ${name}`), 200, name);
  }
  for (const name of ['evil.example.com', 'localhost.evil.com', '192.168.1.7', 'localhost@evil.com', 'a b', '']) {
    assert.equal(await status(`Host: ${name}`), 403, name);
  }
  assert.equal(await status(`Host: ${host}`, 'Host: evil.example.com'), 400);
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'https://tools.example.com']) {
    assert.equal(await status(`Host: ${host}`, `Origin: ${origin}`), 200, origin);
  }
  for (const origin of ['https://evil.example.com', 'null', 'http://localhost.evil.com', 'file://', 'nonsense']) {
    assert.equal(await status(`Host: ${host}`, `Origin: ${origin}`), 403, origin);
  }
});

test('[mcp] GET and DELETE are not allowed because there are no sessions, and an unknown bundle has no endpoint', async () => {
  const { pluginsUrl } = await shared();
  for (const path of ['/mcp', '/mcp/arithmetic']) {
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(pluginsUrl + path, { method, headers: { Accept: 'text/event-stream' } });
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST']);
      await response.text();
    }
  }
  for (const name of ['nothing', '__proto__', '..%2Fx', 'A']) {
    assert.equal((await post(`${pluginsUrl}/mcp/${name}`, ping)).status, 404, name);
  }
});

test('[mcp] a subscription is acknowledged and stays open until its client disconnects or the service stops', async () => {
  const { pluginsUrl, stop } = await shared();
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: { _meta: modernMeta, notifications: { toolsListChanged: true } },
  });
  const headers = { ...json, 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' };
  const subscribe = async (signal?: AbortSignal) => {
    const response = await fetch(`${pluginsUrl}/mcp`, { method: 'POST', headers, body, signal: signal ?? null });
    assert.equal(response.status, 200);
    const events = response.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    const first = await events?.next();
    assert.match(String(first?.value), /subscriptions\/acknowledged/);
    return events;
  };
  const leaving = new AbortController();
  const subscribed = await subscribe(leaving.signal);
  leaving.abort();
  await assert.rejects(async () => await subscribed?.next());
  assert.equal((await post(`${pluginsUrl}/mcp`, ping)).status, 200);
  await subscribe();
  assert.equal(await stop(), 0);
});

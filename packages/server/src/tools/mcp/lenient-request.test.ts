import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAccept, readMessage } from './lenient-request.ts';

const both = { json: true, events: true };
const onlyJson = { json: true, events: false };

test('an Accept header is read as HTTP says: ranges, none, and the most specific range first', () => {
  const headers = {
    'application/json, text/event-stream': both,
    '*/*': both,
    '': both,
    'text/html, */*;q=0.1': both,
    'application/json': onlyJson,
    'application/*': onlyJson,
    'APPLICATION/JSON; charset=utf-8': onlyJson,
    '*/*, text/event-stream;q=0': onlyJson,
    'text/event-stream': { json: false, events: true },
    'text/*, application/json;q=0': { json: false, events: true },
    'text/html': { json: false, events: false },
  };
  for (const [header, expected] of Object.entries(headers)) assert.deepEqual(readAccept(header), expected, header);
  assert.deepEqual(readAccept(undefined), both);
});

test('a null in place of params or of one of them counts as absent, and a null among arguments stays', () => {
  const call = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const { params: _, ...without } = call(null);
  assert.deepEqual(readMessage(call(null), both), without);
  assert.deepEqual(readMessage(call({ name: 'a', arguments: null, _meta: null }), both), call({ name: 'a' }));
  const unchanged = call({ name: 'a', arguments: { b: null } });
  assert.equal(readMessage(unchanged, both), unchanged);
  for (const other of [null, 1, 'text', call([null]), without]) assert.equal(readMessage(other, both), other);
});

test('a client that reads no events gets no progress', () => {
  const call = (meta: object) => ({ method: 'tools/call', params: { name: 'a', _meta: meta } });
  const sent = call({ progressToken: 1, more: 2 });
  assert.equal(readMessage(sent, both), sent);
  assert.deepEqual(readMessage(sent, onlyJson), call({ more: 2 }));
});

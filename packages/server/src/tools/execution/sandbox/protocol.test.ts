import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from './protocol.ts';
import { faultOf, readFromChild } from './read-from-child.ts';

test('a message of a child is accepted when its shape is valid', () => {
  const good = [
    { type: 'pending_dropped' },
    { type: 'returned', run: 'r', ms: 0, output: null },
    { type: 'failed', run: 'r', ms: 0.5, message: 'm' },
    { type: 'rejected', run: 'r', ms: 1, message: 'm' },
    { type: 'fetch', run: 'r', call: 1, request: { url: 'https://a.test/', method: 'POST', body: { deep: [1] } } },
    {
      type: 'fetch',
      run: 'r',
      call: 1,
      request: { url: 'u', query: { a: 1, b: ['x', 2], c: true }, headers: { h: 'v' } },
    },
    { type: 'log', run: 'r', message: 'm', fields: { a: 1 } },
    { type: 'progress', run: 'r', fraction: 1 },
  ];
  for (const message of good) assert.deepEqual(readFromChild(JSON.stringify(message)), message);
});

test('any other value is not a message', () => {
  const bad = [
    ...[
      '',
      ...`null [] 1 "ready" { {"type":"sudo"} {"type":"returned","run":"r","ms":1}
    {"type":"returned","run":"r","output":1} {"type":"returned","run":"r","ms":-1,"output":1}
    {"type":"returned","run":"r","ms":"1","output":1} {"type":"log","run":"r"}`.split(/\s+/),
    ],
    ...['{"type":"returned","run":1,"ms":1,"output":1}', '{"type":"failed","run":"r","ms":1,"message":{}}'],
    ...['{"type":"progress","run":"r","fraction":2}', '{"type":"progress","run":"r","fraction":"0.5"}'],
    ...['{"type":"log","run":"r","message":"m","fields":[]}', '{"type":"fetch","run":"r","call":1}'],
    '{"type":"log","run":"r","message":"m","fields":{"a":{"__proto__":{"polluted":1}}}}',
    '{"type":"log","run":"r","message":"m","fields":{"a":{"\\u005f_proto__":{"polluted":1}}}}',
    '{"type":"fetch","run":"r","call":0.5,"request":{"url":"u"}}',
    '{"type":"fetch","run":"r","call":1,"request":{"url":"u","method":"CONNECT"}}',
    '{"type":"fetch","run":"r","call":1,"request":{"url":"u","headers":{"a":1}}}',
    '{"type":"fetch","run":"r","call":1,"request":{"url":"u","query":{"a":{}}}}',
    `{"type":"fetch","run":"r","call":1,"request":{"url":"u","body":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`,
  ];
  for (const line of bad) assert.equal(readFromChild(line), undefined, line.slice(0, 80));
  fc.assert(fc.property(fc.json(), (line) => readFromChild(line) === undefined));
});

test('nesting is limited without recursion, so that a child cannot exhaust the stack', () => {
  const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  assert.equal(faultOf(nest(bounds.depth)), undefined);
  assert.match(faultOf(nest(bounds.depth + 1)) ?? '', /deeper/);
  assert.match(faultOf(nest(100_000)) ?? '', /deeper/);
});

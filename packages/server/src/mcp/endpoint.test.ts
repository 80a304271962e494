import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { createLogger } from '../kernel/logger.ts';
import { Problem } from '../kernel/problem.ts';
import { loadFolder } from '../load-folder.ts';
import { resultOfProblem, resultOfRun } from './call-result.ts';
import type { CallTool } from './call-tool.ts';
import { createEndpoint, type Endpoint, type McpAnswer } from './endpoint.ts';
import { createChannel, createLibraryEndpoint } from './library-endpoint.ts';
import { readPlainRequest } from './plain-request.ts';
import { createToolboxes, type Toolbox } from './toolbox.ts';

const own = resolve(import.meta.dirname, '../../../../bundles');
const png = 'data:image/png;base64,iVBORw0KGgo=';

type Json = Record<string, unknown>;
interface Case {
  readonly headers: Record<string, string>;
  readonly message: Json;
}

let everything: Toolbox;
let few: Toolbox;
before(async () => {
  const { all, ofBundle } = createToolboxes(await loadFolder(own), createLogger('silent'));
  everything = all;
  few = ofBundle.get('arithmetic') ?? all;
});

/** What the arguments ask for. */
const callTool: CallTool = async ({ input, meta, headerOf, projectId, keyId }) => {
  const run = { run_id: 'xrun', duration_ms: 1, status: 200 as const };
  if (input.fail === 'defect') throw new Error('a defect');
  if (input.fail === 'problem') return resultOfProblem(new Problem('INVALID_REQUEST', 'No.', {}), 'a hint');
  if (input.fail === 'drift') return resultOfRun({ ...run, data: [1] });
  const seen = { key: headerOf('x-credential-some_key'), mine: meta?.['quartermaster/idempotency-key'] };
  const data = { input, ...JSON.parse(JSON.stringify(seen)), projectId, keyId, picture: png };
  return resultOfRun({ ...run, data });
};

const revisions = ['2026-07-28', '2025-11-25', '2025-06-18'] as const;

/** A request that is plain, before a test changes it. */
function plainCase(revision: string, method: string, params: Json): Case {
  const isNewest = revision === '2026-07-28';
  const newestHeaders = {
    'mcp-method': method,
    ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
  };
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const _meta = { ...(isNewest ? envelope : {}), ...(params._meta as Json | undefined) };
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'x-credential-some_key': 'a key',
      ...(isNewest ? newestHeaders : {}),
    },
    message: { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } },
  };
}

const headerOfCase =
  ({ headers }: Case) =>
  (name: string) =>
    headers[name];

async function ask(endpoint: Endpoint, one: Case) {
  const request = {
    headerOf: headerOfCase(one),
    headers: () => new Headers(one.headers),
    signal: new AbortController().signal,
  };
  const answer = await endpoint.answer(request, one.message, { projectId: 'p1', keyId: 'k1' });
  const text = await textOf(answer);
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return {
    status: answer.status,
    type: new Headers([...answer.headers].map(([name, value]): [string, string] => [name, value])).get('content-type'),
    body: data === '' ? null : (JSON.parse(data) as Json),
  };
}

async function textOf({ body }: McpAnswer): Promise<string> {
  return Buffer.isBuffer(body) ? body.toString() : await new Response(body).text();
}

/** Ours, after it was found to be that of the library. */
async function askBoth(one: Case, toolbox = few) {
  const deps = { version: '1.2.3', callTool, logger: createLogger('silent') };
  const ours = await ask(createEndpoint(toolbox, deps, createChannel()), one);
  const theirs = await ask(createLibraryEndpoint(toolbox, deps, createChannel()), one);
  assert.deepEqual(ours, theirs, JSON.stringify(one));
  return ours;
}

const tool = 'add';
const calls: Json[] = [
  {
    name: tool,
    arguments: { a: 1, list: [null, { b: 'ü' }] },
    _meta: { 'quartermaster/idempotency-key': 'k', traceparent: 'of somebody' },
  },
  { name: tool },
  { name: tool, arguments: { fail: 'problem' } },
  { name: tool, arguments: { fail: 'drift' } },
  { name: tool, arguments: { fail: 'defect' } },
];

test('what is plain is answered as the library answers it, in every revision', async () => {
  for (const revision of revisions) {
    for (const [method, params] of [
      ['tools/list', {}] as const,
      ...calls.map((each) => ['tools/call', each] as const),
    ]) {
      const one = plainCase(revision, method, params);
      for (const id of [7, 'seven', '{"name":"x"}']) {
        const asked = { ...one, message: { ...one.message, id } };
        assert.equal(readPlainRequest(headerOfCase(asked), asked.message)?.method, method, JSON.stringify(asked));
        const { status, type, body } = await askBoth(asked);
        assert.deepEqual([status, type, body?.id], [200, 'application/json', id]);
      }
    }
  }
});

test('the list is that of the tools', async () => {
  assert.ok(everything.tools.length > 100);
  const plain = JSON.parse(JSON.stringify(everything.tools));
  const newest = await askBoth(plainCase('2026-07-28', 'tools/list', {}), everything);
  const { tools, ...hints } = resultOf(newest);
  assert.deepEqual(tools, plain);
  assert.deepEqual([hints.ttlMs, hints.cacheScope, hints.resultType], [300_000, 'private', 'complete']);
  const older = plainCase('2025-11-25', 'tools/list', {});
  assert.deepEqual(resultOf(await askBoth(older, everything)), { tools: plain });
  const short = { ...older, message: { jsonrpc: '2.0', id: 1, method: 'tools/list' } };
  assert.deepEqual(resultOf(await askBoth(short, everything)), { tools: plain });
  const streamed = await askBoth(plainCase('2025-11-25', 'tools/list', { _meta: { progressToken: 1 } }), everything);
  assert.deepEqual([streamed.type, resultOf(streamed)], ['text/event-stream', { tools: plain }]);
});

test('a call sees what came with it, and its result is that of the run', async () => {
  for (const revision of revisions) {
    const { structuredContent, content } = resultOf(await askBoth(plainCase(revision, 'tools/call', calls[0] ?? {})));
    const { picture: _, ...seen } = structuredContent as Json;
    const { arguments: input } = calls[0] ?? {};
    assert.deepEqual(seen, { input, key: 'a key', mine: 'k', projectId: 'p1', keyId: 'k1' });
    assert.deepEqual(
      (content as Json[]).map(({ type }) => type),
      ['text', 'image'],
    );
  }
  const failed = await askBoth(plainCase('2026-07-28', 'tools/call', { name: tool, arguments: { fail: 'problem' } }));
  assert.equal(resultOf(failed).isError, true);
  const defect = await askBoth(plainCase('2025-11-25', 'tools/call', { name: tool, arguments: { fail: 'defect' } }));
  assert.equal((defect.body?.error as Json | undefined)?.code, -32603);
});

const resultOf = ({ body }: { body: Json | null }) => (body?.result ?? {}) as Json;

/** Each breaks something, or asks for something more. */
const changes: Record<string, (one: Case) => unknown> = {
  'no content type': ({ headers }) => delete headers['content-type'],
  'another content type': ({ headers }) => Object.assign(headers, { 'content-type': 'application/jsonp' }),
  'another method in the header': ({ headers }) => Object.assign(headers, { 'mcp-method': 'tools/list' }),
  'another revision in the header': ({ headers }) => Object.assign(headers, { 'mcp-protocol-version': '2025-03-26' }),
  'the newest revision in the header': ({ headers }) =>
    Object.assign(headers, { 'mcp-protocol-version': '2026-07-28' }),
  'an unknown revision': ({ headers }) => Object.assign(headers, { 'mcp-protocol-version': '1999-01-01' }),
  'a revision to come': ({ headers, message }) => {
    headers['mcp-protocol-version'] = '2027-01-01';
    metaOf(message)['io.modelcontextprotocol/protocolVersion'] = '2027-01-01';
  },
  'no revision': ({ headers }) => delete headers['mcp-protocol-version'],
  'no method in the header': ({ headers }) => delete headers['mcp-method'],
  'no name in the header': ({ headers }) => delete headers['mcp-name'],
  'another name in the header': ({ headers }) => Object.assign(headers, { 'mcp-name': 'divide' }),
  'a name in base64': ({ headers }) =>
    Object.assign(headers, { 'mcp-name': `=?base64?${Buffer.from(tool).toString('base64')}?=` }),
  'JSON alone accepted': ({ headers }) => Object.assign(headers, { accept: 'application/json' }),
  'events alone accepted': ({ headers }) => Object.assign(headers, { accept: 'text/event-stream' }),
  'nothing accepted': ({ headers }) => delete headers.accept,
  'another JSON-RPC': ({ message }) => Object.assign(message, { jsonrpc: '1.0' }),
  'an id of null': ({ message }) => Object.assign(message, { id: null }),
  'a broken id': ({ message }) => Object.assign(message, { id: 1.5 }),
  'an id that is an object': ({ message }) => Object.assign(message, { id: {} }),
  'no id': ({ message }) => delete message.id,
  'a result beside it': ({ message }) => Object.assign(message, { result: {} }),
  'a method of another case': ({ message }) => Object.assign(message, { method: 'Tools/call' }),
  'no parameters': ({ message }) => delete message.params,
  'parameters of null': ({ message }) => Object.assign(message, { params: null }),
  'parameters in a list': ({ message }) => Object.assign(message, { params: [] }),
  'no name': ({ message }) => delete paramsOf(message).name,
  'a name that is a number': ({ message }) => Object.assign(paramsOf(message), { name: 5 }),
  'an unknown tool': ({ headers, message }) => {
    if (headers['mcp-name'] !== undefined) headers['mcp-name'] = 'nothing';
    paramsOf(message).name = 'nothing';
  },
  'arguments in a list': ({ message }) => Object.assign(paramsOf(message), { arguments: [] }),
  'arguments of null': ({ message }) => Object.assign(paramsOf(message), { arguments: null }),
  'arguments that are text': ({ message }) => Object.assign(paramsOf(message), { arguments: '{}' }),
  'a cursor': ({ message }) => Object.assign(paramsOf(message), { cursor: 'abc' }),
  'a task': ({ message }) => Object.assign(paramsOf(message), { task: { ttl: 1 } }),
  'answers of a user': ({ message }) => Object.assign(paramsOf(message), { inputResponses: {} }),
  'a state': ({ message }) => Object.assign(paramsOf(message), { requestState: 'abc' }),
  'a state that is a number': ({ message }) => Object.assign(paramsOf(message), { requestState: 5 }),
  'a member nobody knows': ({ message }) => Object.assign(paramsOf(message), { other: 1 }),
  'no _meta': ({ message }) => delete paramsOf(message)._meta,
  'a _meta of null': ({ message }) => Object.assign(paramsOf(message), { _meta: null }),
  'a _meta in a list': ({ message }) => Object.assign(paramsOf(message), { _meta: [] }),
  'a progress token': ({ message }) => Object.assign(metaOf(message), { progressToken: 'abc' }),
  'a progress token that is an object': ({ message }) => Object.assign(metaOf(message), { progressToken: {} }),
  'a related task': ({ message }) => Object.assign(metaOf(message), { 'io.modelcontextprotocol/related-task': 5 }),
  'a log level': ({ message }) => Object.assign(metaOf(message), { 'io.modelcontextprotocol/logLevel': 'shout' }),
  'no capabilities': ({ message }) => delete metaOf(message)['io.modelcontextprotocol/clientCapabilities'],
  'capabilities that are text': ({ message }) =>
    Object.assign(metaOf(message), { 'io.modelcontextprotocol/clientCapabilities': 'all' }),
  'capabilities that are wrong': ({ message }) =>
    Object.assign(metaOf(message), { 'io.modelcontextprotocol/clientCapabilities': { roots: 5 } }),
  'a client without a name': ({ message }) =>
    Object.assign(metaOf(message), { 'io.modelcontextprotocol/clientInfo': { version: '1' } }),
  'a revision that is a number': ({ message }) =>
    Object.assign(metaOf(message), { 'io.modelcontextprotocol/protocolVersion': 5 }),
  'an older revision in the envelope': ({ message }) =>
    Object.assign(metaOf(message), { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' }),
};

const paramsOf = (message: Json) => message.params as Json;
const metaOf = (message: Json) => paramsOf(message)._meta as Json;

test('what is changed in any way is answered as the library answers it', async (t) => {
  let [plain, refused] = [0, 0];
  for (const [name, change] of Object.entries(changes)) {
    await t.test(name, async () => {
      for (const revision of revisions) {
        for (const [method, params] of [
          ['tools/call', { name: tool, arguments: {} }] as const,
          ['tools/list', {}] as const,
        ]) {
          const one = structuredClone(plainCase(revision, method, params));
          change(one);
          const isPlain = readPlainRequest(headerOfCase(one), one.message) !== null;
          const { status, body } = await askBoth(one);
          plain += isPlain ? 1 : 0;
          refused += status >= 400 || body?.error !== undefined ? 1 : 0;
          if (isPlain) assert.equal(status, 200, revision);
        }
      }
    });
  }
  assert.ok(plain > 30 && refused > 100, `${plain} plain, ${refused} refused`);
});

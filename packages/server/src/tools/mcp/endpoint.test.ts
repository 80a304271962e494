import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createStreamShares } from '../../platform/admission/stream-shares.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { permissionsWithoutKey } from '../../platform/permissions.ts';
import { Problem } from '../../platform/problem.ts';
import { loadFolder } from '../catalogue/load/load-folder.ts';
import { resultOfProblem, resultOfRun } from './call-result.ts';
import type { CallTool } from './call-tool.ts';
import { createEndpoint } from './endpoint.ts';
import { plainOffers } from './testing/plain-offers.ts';
import { createToolboxes, type Toolbox } from './toolbox.ts';
import { toolsPerPage } from './toolsets/tool-offer.ts';

const own = resolve(import.meta.dirname, '../../../../../bundles');
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

const absent = async () => undefined;
const noMedia = { readArtifact: absent, toPng: absent, storesArtifacts: true };

/** Returns or throws as the arguments request. */
const callTool: CallTool = async ({ input, meta, headerOf, caller: { projectId, keyId } }) => {
  const run = { run_id: 'xrun', duration_ms: 1, status: 200 as const };
  if (input.fail === 'defect') throw new Error('a defect');
  if (input.fail === 'problem') return resultOfProblem(new Problem('INVALID_REQUEST', 'No.', {}), 'a hint');
  if (input.fail === 'drift') return await resultOfRun({ ...run, data: [1] }, noMedia);
  const seen = { key: headerOf('x-credential-some_key'), mine: meta?.['quartermaster/idempotency-key'] };
  const data = { input, ...JSON.parse(JSON.stringify(seen)), projectId, keyId, picture: png };
  return await resultOfRun({ ...run, data }, noMedia);
};

const revisions = ['2026-07-28', '2025-11-25', '2025-06-18'] as const;

/** Returns a valid request of a revision. */
function newCase(revision: string, method: string, params: Json): Case {
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

const streams = createStreamShares({ admission: createAdmission() });
const deps = { version: '1.2.3', knowledge: null, offers: plainOffers, streams, logger: createLogger('silent') };

/** Sends a request to a new endpoint and returns the response. */
async function ask(one: Case, toolbox = few) {
  const endpoint = createEndpoint({ ...deps, callTool });
  const request = { headers: new Headers(one.headers), signal: new AbortController().signal };
  const caller = { projectId: 'p1', keyId: 'k1', permissions: permissionsWithoutKey };
  const tools = { toolbox, listing: 'full' } as const;
  const { status, headers, body } = await endpoint.answer(request, one.message, caller, tools);
  const isWhole = Buffer.isBuffer(body);
  const text = isWhole ? body.toString() : await new Response(body).text();
  const sent = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as Json;
  return { status, type: Object.fromEntries(headers)['content-type'], isWhole, body: sent };
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

const resultOf = ({ body }: { body: Json }) => (body.result ?? {}) as Json;

test('calls and lists have one JSON response with the id of the request in every revision', async () => {
  for (const revision of revisions) {
    const requests = [['tools/list', {}] as const, ...calls.map((each) => ['tools/call', each] as const)];
    for (const [method, params] of requests) {
      for (const id of [7, 'seven', '{"name":"x"}']) {
        const one = newCase(revision, method, params);
        const { status, type, isWhole, body } = await ask({ ...one, message: { ...one.message, id } });
        assert.deepEqual([status, type, isWhole, body.id], [200, 'application/json', true, id], JSON.stringify(one));
      }
    }
  }
});

test('wrong params of any method are the error -32602, which says what is expected', async () => {
  const methods = ['initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/read', 'other'];
  const errorOf = async (revision: string, method: string, params: unknown) => {
    const one = newCase(revision, method, {});
    const { body } = await ask({ ...one, message: { ...one.message, params } });
    return { id: body.id, ...(body.error as { code: number; message: string }) };
  };
  for (const revision of revisions) {
    for (const method of methods) {
      for (const [params, kind] of [
        [5, 'a number'],
        ['x', 'a string'],
        [[], 'an array'],
      ] as const) {
        const message = `Invalid params: \`params\` must be an object; received ${kind}.`;
        assert.deepEqual(await errorOf(revision, method, params), { id: 7, code: -32602, message });
      }
    }
  }
  const missing = 'expected string, received undefined.';
  for (const [method, params, message] of [
    ['initialize', undefined, `\`params.protocolVersion\`: ${missing}`],
    ['initialize', { protocolVersion: 5 }, '`params.protocolVersion`: expected string, received number.'],
    ['tools/call', undefined, `\`params.name\`: ${missing}`],
    ['tools/call', { name: 'add', arguments: 5 }, '`params.arguments`: expected record, received number.'],
    ['resources/read', {}, `\`params.uri\`: ${missing}`],
    ['tools/list', { cursor: 5 }, '`params.cursor`: expected string, received number.'],
  ] as const) {
    const error = await errorOf('2025-06-18', method, params);
    assert.deepEqual(error, { id: 7, code: -32602, message: `Invalid params: ${message}` });
  }
});

test('the pages of a list contain all tools of the toolbox, as JSON and as an event', async () => {
  const all = JSON.parse(JSON.stringify(everything.tools));
  const expected = all.slice(0, toolsPerPage);
  const newest = await ask(newCase('2026-07-28', 'tools/list', {}), everything);
  const { tools, nextCursor, ...hints } = resultOf(newest);
  assert.deepEqual(tools, expected);
  const next = await ask(newCase('2025-11-25', 'tools/list', { cursor: nextCursor }), everything);
  assert.deepEqual(resultOf(next), { tools: all.slice(toolsPerPage) });
  assert.deepEqual([hints.ttlMs, hints.cacheScope, hints.resultType], [300_000, 'private', 'complete']);
  const older = newCase('2025-11-25', 'tools/list', {});
  assert.deepEqual(resultOf(await ask(older, everything)), { tools: expected, nextCursor });
  const short = { ...older, message: { jsonrpc: '2.0', id: 1, method: 'tools/list' } };
  assert.deepEqual(resultOf(await ask(short, everything)), { tools: expected, nextCursor });
  const streamed = await ask(newCase('2025-11-25', 'tools/list', { _meta: { progressToken: 1 } }), everything);
  assert.deepEqual([streamed.type, resultOf(streamed)], ['text/event-stream', { tools: expected, nextCursor }]);
});

test('a call receives its arguments, headers, metadata and caller, and its response is the result of the run', async () => {
  for (const revision of revisions) {
    const { structuredContent, content } = resultOf(await ask(newCase(revision, 'tools/call', calls[0] ?? {})));
    const { picture: _, ...seen } = structuredContent as Json;
    const { arguments: input } = calls[0] ?? {};
    assert.deepEqual(seen, { input, key: 'a key', mine: 'k', projectId: 'p1', keyId: 'k1' });
    assert.deepEqual(
      (content as Json[]).map(({ type }) => type),
      ['text', 'image', 'text'],
    );
    for (const fail of ['problem', 'drift']) {
      const failed = await ask(newCase(revision, 'tools/call', { name: tool, arguments: { fail } }));
      assert.equal(resultOf(failed).isError, true, fail);
    }
    const defect = await ask(newCase(revision, 'tools/call', { name: tool, arguments: { fail: 'defect' } }));
    assert.equal((defect.body.error as Json | undefined)?.code, -32603);
  }
});

test('a subscription counts as an event stream of its key until its client leaves', async () => {
  const shares = createStreamShares({
    admission: createAdmission(),
    limits: { ofKey: 1, ofProject: 100, ofProcess: 1_000 },
  });
  const endpoint = createEndpoint({ ...deps, streams: shares, callTool });
  const { headers, message } = newCase('2026-07-28', 'subscriptions/listen', {
    notifications: { toolsListChanged: true },
  });
  const subscribe = (signal: AbortSignal, keyId: string | null, sent: unknown = message) => {
    const caller = { projectId: keyId === null ? null : 'p1', keyId, permissions: permissionsWithoutKey };
    return endpoint.answer({ headers: new Headers(headers), signal }, sent, caller, { toolbox: few, listing: 'full' });
  };
  const [leaving, staying] = [new AbortController(), new AbortController()];
  await subscribe(leaving.signal, 'k1');
  await assert.rejects(subscribe(staying.signal, 'k1'), { code: 'TOO_MANY_REQUESTS' });
  await subscribe(staying.signal, 'k2');
  await subscribe(staying.signal, null);
  leaving.abort();
  const invalid = { ...message, params: {} };
  for (let n = 0; n < 2; n += 1) assert.ok((await subscribe(staying.signal, 'k1', invalid)).status >= 400);
  await subscribe(staying.signal, 'k1');
  await endpoint.close();
});

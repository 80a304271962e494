import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EgressResult, Outbound } from '../../platform/outbound.ts';
import { openArchive } from '../packaging/archive.ts';
import { createReadDefinitions } from './read-definitions.ts';

const { signal } = new AbortController();
const noNetwork: Outbound = { send: () => assert.fail('nothing is fetched'), close: async () => {} };
const read = createReadDefinitions(noNetwork);

const things = {
  openapi: '3.0.3',
  info: { title: 'Things', version: '1.2', license: { name: 'MIT' } },
  servers: [{ url: 'https://api.things.dev/v1' }],
  paths: { '/things': { get: { operationId: 'listThings', responses: { 200: { description: 'Done.' } } } } },
};
const openapi = (content: string) => ({ kind: 'openapi' as const, content });

test('a document becomes the archive of a bundle, and says what is not imported', async () => {
  const paths = { ...things.paths, '/raw': { trace: { responses: {} } } };
  const found = await read(openapi(JSON.stringify({ ...things, paths })), 'my_things', signal);
  const { contents, files } = await openArchive(found.bytes);
  assert.deepEqual([contents.bundleId, contents.version], ['my_things', '1.2.0']);
  assert.deepEqual([...files.keys()], ['bundle.yaml', 'import-report.json', 'list_things.yaml']);
  assert.deepEqual([found.name, found.licence, found.source], ['api.things.dev', 'MIT', null]);
  assert.equal(found.warnings[0], '1 of 2 actions are imported.');
  assert.match(found.warnings[1] ?? '', /^Not imported: TRACE \/raw: /);
});

test('warnings that differ only in names are one warning with a count', async () => {
  const loop = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const answer = (name: string) => ({
    200: { description: 'x', content: { 'application/json': { schema: loop(name) } } },
  });
  const get = (id: string) => ({ get: { operationId: id, responses: answer(id) }, trace: { responses: {} } });
  const content = JSON.stringify({ ...things, paths: { '/a': get('a'), '/b': get('b'), '/c': get('c') } });
  const { warnings } = await read(openapi(content), undefined, signal);
  assert.match(
    warnings.join('\n'),
    /^Not imported: TRACE \/a and 2 more: .*\na and 2 more: "#\/components\/schemas\/a" does not exist/m,
  );
});

test('a document is fetched by its URL, and a failure names its reason', async () => {
  const answer = (result: Partial<EgressResult>) =>
    createReadDefinitions({ ...noNetwork, send: async () => result as EgressResult });
  const source = { kind: 'openapi' as const, url: 'https://api.things.dev/openapi.json' };
  const body = Buffer.from(JSON.stringify(things));
  const found = await answer({ kind: 'response', status: 200, body })(source, undefined, signal);
  assert.deepEqual([found.name, found.source], ['api.things.dev', source]);
  for (const [result, message] of [
    [{ kind: 'response', status: 404, body }, /status 404/],
    [{ kind: 'refused', message: 'No.' }, /The import failed: No\. Check the URL/],
    [{ kind: 'timed_out', limitMs: 1 }, /timed out/],
  ] as const)
    await assert.rejects(answer(result)(source, undefined, signal), { code: 'PROVIDER_ERROR', message });
  await assert.rejects(read({ kind: 'openapi' }, undefined, signal), /either "content" or "url"/);
});

test('an MCP server is recognised by its answers, and what it is read from is remembered without credentials', async () => {
  const url = 'https://mcp.things.dev/tea';
  const methods: string[] = [];
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'Tea', version: '1' },
    },
    'tools/list': {
      tools: [{ name: 'brew', description: 'Brews tea.', inputSchema: { type: 'object', properties: {} } }],
    },
  };
  const send: Outbound['send'] = async ({ method, body }) => {
    const headers = { 'content-type': 'application/json' };
    const { id, method: called = method } = JSON.parse(typeof body === 'string' ? body : '{}');
    methods.push(called);
    const answer = { kind: 'response' as const, headers, finalUrl: url, status: method === 'POST' ? 200 : 405 };
    const reply = JSON.stringify({ jsonrpc: '2.0', id, result: results[called] ?? {} });
    return { ...answer, body: Buffer.from(reply) };
  };
  const server = createReadDefinitions({ ...noNetwork, send });
  const found = await server({ kind: 'openapi', url, operations: ['brew'] }, undefined, signal);
  assert.deepEqual(found.source, { kind: 'mcp', url, operations: ['brew'] });
  assert.ok((await openArchive(found.bytes)).files.has('brew.yaml'));
  assert.deepEqual(methods.slice(0, 2), ['GET', 'initialize']);
  methods.splice(0);
  assert.equal(
    (await server({ kind: 'openapi', url: 'https://a.things.dev/mcp' }, undefined, signal)).source?.kind,
    'mcp',
  );
  assert.equal(methods[0], 'initialize', 'a server may answer GET with a stream that does not end');
  const access = { bearer: 'TOKEN', credentials: { TOKEN: 'canary' } };
  const named = await server({ kind: 'mcp', url, ...access }, undefined, signal);
  assert.deepEqual(named.source, { kind: 'mcp', url, bearer: 'TOKEN' });
});

test('a recipe names the document, and an unknown recipe or another document is refused', async () => {
  const asked: string[] = [];
  const send: Outbound['send'] = async ({ url }) => {
    asked.push(url);
    return { kind: 'response', status: 200, body: Buffer.from(JSON.stringify(things)) } as EgressResult;
  };
  const fetching = createReadDefinitions({ ...noNetwork, send });
  const other = /for the document "Stripe API"; this one is "Things"/;
  await assert.rejects(fetching({ kind: 'openapi', recipe: 'stripe' }, undefined, signal), other);
  assert.match(asked.join(), /^https:\/\/raw\.githubusercontent\.com\/stripe\/openapi\//);
  await assert.rejects(read({ ...openapi(JSON.stringify(things)), recipe: 'stripe' }, undefined, signal), other);
  await assert.rejects(read({ kind: 'openapi', recipe: 'no_such' }, undefined, signal), {
    code: 'REQUEST_VALIDATION_ERROR',
    message: /There is no recipe "no_such"\. Use one of these, or none: .*stripe[^.]*\.$/,
  });
});

const nested = (open: string, close: string, count: number) => open.repeat(count) + close.repeat(count);
/** Each list holds the one before ten times. */
const bomb = `openapi: 3.1.0\na0: &a0 [x]\n${Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(10)}]`).join('\n')}`;
const inherited = JSON.stringify(things).replace(
  '"paths":{',
  '"paths":{"__proto__":{"get":{}},"constructor":{"get":{}},',
);

const hostile: Readonly<Record<string, readonly [content: string, message: RegExp]>> = {
  'that is no document': ['[]', /must be a JSON or YAML object/],
  'that is too large': [' '.repeat(10 * 2 ** 20 + 1), /at most 10485760 bytes/],
  'of nested lists': [`{"openapi":"3.1.0","paths":${nested('[', ']', 1_000_000)}}`, /nested too deeply|No operation/],
  'of nested YAML': [`openapi: 3.1.0\npaths: ${nested('[', ']', 100_000)}`, /nested too deeply|neither JSON nor YAML/],
  'of aliases that multiply': [bomb, /neither JSON nor YAML|nested too deeply|memory|longer than|Excessive alias/],
};
for (const [what, [content, message]] of Object.entries(hostile)) {
  test(`a document ${what} is refused`, async () =>
    await assert.rejects(read(openapi(content), undefined, signal), { code: 'REQUEST_VALIDATION_ERROR', message }));
}

test('names of prototypes in a document change no object', async () => {
  const { bytes } = await read(openapi(inherited), undefined, signal);
  assert.ok((await openArchive(bytes)).files.has('list_things.yaml'));
  assert.equal(Reflect.get({}, 'get'), undefined);
});

test('a conversion that needs more memory or time than the limits ends', async () => {
  const wide = JSON.stringify({ ...things, x: Array.from({ length: 400_000 }, (_, n) => ({ [`n${n}`]: n })) });
  const small = createReadDefinitions(noNetwork, { heapMb: 16, timeMs: 120_000 });
  await assert.rejects(small(openapi(wide), undefined, signal), /more than 16 MiB of memory/);
  const short = createReadDefinitions(noNetwork, { heapMb: 1024, timeMs: 1 });
  const brief = openapi(JSON.stringify(things));
  await assert.rejects(short(brief, undefined, signal), /longer than 0\.001 s/);
  const aborted = AbortSignal.abort(new Error('gone'));
  await assert.rejects(read(brief, undefined, aborted), /gone/);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { csrfHeader } from '@quartermaster/contract';
import { request } from 'undici';
import { setUp } from '../support/administrator.ts';
import { type Caller, createCallers } from '../support/authorisation-callers.ts';
import { type Outcome, outcomeOf } from '../support/authorisation-outcomes.ts';
import { type AddressName, mcpNeeds, type Need, type Route, routes } from '../support/authorisation-table.ts';
import { listOperations } from '../support/documented-operations.ts';
import { addDocument } from '../support/mcp-knowledge.ts';
import { share, startService, temporaryFolder } from '../support/service.ts';

const opened = share(async (t) => {
  const noted = join(await temporaryFolder(t), 'routes');
  const preload = `NODE_OPTIONS=--import=${resolve(import.meta.dirname, '../support/note-routes.ts')}`;
  const service = await startService(t, {
    // Some routes exist only with an identity provider. Nobody listens there.
    settings: { LOG_LEVEL: 'warn', PLUGINS_KEY: 'required', OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'c' },
    launcher: ['/usr/bin/env', preload, `NOTED_ROUTES=${noted}`],
  });
  const admin = await setUp(service);
  const document = await addDocument(service, { name: 'red', title: 'Red', content: 'The otters paint at noon.' });
  const bases: Readonly<Record<AddressName, string>> = { files: service.filesUrl, plugins: service.pluginsUrl };
  return { service, admin, document, noted, bases, ...(await createCallers(service, admin)) };
});

/** Requests whose handlers decide, after the body was checked. */
const bodies: Readonly<Record<string, object>> = {
  'POST /v1/projects': { name: 'other' },
  'POST /v1/projects/:project_id/keys': { name: 'another', scopes: ['admin'] },
  'POST /v1/projects/:project_id/keys/:key_id/rotate': {},
  'POST /v1/projects/:project_id/rate_limits': { per_minute: 1_000_000 },
  'PATCH /v1/accounts/:account_id': { disabled: false },
  'PUT /v1/projects/:project_id/members/:account_id': { role: 'viewer' },
  'POST /oauth/requests/:request_id/decision': { decision: 'deny' },
};

test('[authorisation] every route that the service has is in the table, and every documented scope is that of the table', async () => {
  const { noted, bases } = await opened();
  const served = readRoutes(noted).map((route) => route.replace(' HEAD ', ' GET '));
  const declared = routes.map(({ address, method, path }) => `${address} ${method} ${path}`);
  assert.equal(new Set(declared).size, declared.length, 'no route is in two rows');
  assert.deepEqual([...new Set(served)].sort(), [...declared].sort());
  const wrong: string[] = [];
  for (const address of ['files', 'plugins'] as const) {
    for (const { method, path, scope, takesKeys, isPublic } of await listOperations(address, bases[address])) {
      const route = path.replaceAll(/\{(\w+)\}/g, ':$1').replace('{*}', '*');
      const need = routes.find((one) => one.address === address && one.method === method && one.path === route)?.need;
      const documented = isPublic ? 'nothing' : (scope ?? (takesKeys ? 'any key' : 'a session'));
      const known: Readonly<Record<string, string>> = {
        ...{ 'own projects': 'admin', 'metrics or plugins': 'metrics', 'any person': 'a session' },
        ...{ 'service administrator': 'a session', 'project administrator': 'a session' },
      };
      // Its content needs the signature of its URL.
      const isSigned = path.endsWith('/artifacts/{artifact_id}/content');
      if (!isSigned && (known[need ?? ''] ?? need) !== documented)
        wrong.push(`${method} ${path}: ${documented}, ${need}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/** Returns the routes that the service has noted: their address, method and path. */
function readRoutes(noted: string): string[] {
  const lines = readFileSync(noted, 'utf8').trim().split('\n');
  const files = lines.find((line) => line.endsWith(' GET /v1/files'))?.split(' ', 1)[0];
  return lines.map((line) => line.replace(/^\d+/, (number) => (number === files ? 'files' : 'plugins')));
}

test('[authorisation] each route accepts the callers of the table and refuses all others', async (t) => {
  const { callers, bases, admin, noted } = await opened();
  const served = new Set(readRoutes(noted));
  const wrong: string[] = [];
  let cells = 0;
  const check = async (route: Route, caller: Caller, mount = '') => {
    const { address, method, path } = route;
    const isService = caller.subject.role === 'service administrator';
    const target = path
      .replace(/:project_id$/, isService ? 'x' : admin.projectId)
      .replace(':project_id', admin.projectId)
      .replaceAll(/:\w+|\*$/g, 'x');
    const base = mount === '' ? bases[address] : bases.files + mount;
    const headers = method === 'DELETE' && path === '/v1/session' ? caller.another?.() : caller.headers;
    const body = bodies[`${method} ${path}`];
    // `fetch` takes three times the processor time, which for ten thousand requests is most of this test.
    const answer = await request(base + target, {
      method,
      headers: {
        [csrfHeader]: '1',
        ...(headers ?? caller.headers),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const found = readOutcome(answer.statusCode, await answer.body.text(), admin.projectId);
    const expected = expectedOf(route, caller, mount);
    cells += 1;
    // A response without a body does not say what is hidden.
    if (method === 'HEAD' && expected === 'hidden' && answer.statusCode === 404) return;
    if (found !== expected)
      wrong.push(
        `${mount}${method} ${address} ${path}: ${caller.name}: ${found} (${answer.statusCode}), not ${expected}`,
      );
  };
  for (const route of routes) {
    const methods = ['HEAD', route.method].filter((method) => served.has(`${route.address} ${method} ${route.path}`));
    for (const method of route.method === 'GET' ? methods : methods.slice(-1))
      await Promise.all(callers.map((caller) => check({ ...route, method }, caller)));
    if (route.address === 'plugins' && route.path.startsWith('/v1/')) {
      await Promise.all(callers.map((caller) => check(route, caller, '/plugins')));
    }
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(`${cells} cells: ${routes.length} routes, ${callers.length} callers`);
});

function subjectAt({ subject, validAt }: Caller, address: AddressName) {
  return validAt === undefined || validAt === address ? subject : { ...subject, kind: 'refused' as const };
}

function expectedOf(route: Route, caller: Caller, mount: string): Outcome {
  const address = mount === '' ? route.address : 'files';
  const subject = subjectAt(caller, address);
  const own = outcomeOf(route.need, subject, { address, path: route.path });
  if (mount === '') return caller.isForeign === true && own === 'accepted' ? foreign(route, caller) : own;
  const need = route.method === 'DELETE' ? 'plugins' : 'plugins:read';
  const outer = outcomeOf(need, subject, { address, path: `${mount}${route.path}` });
  return outer === 'accepted' ? own : outer;
}

/** The path names the first project. */
function foreign({ path }: Route, { subject }: Caller): Outcome {
  return subject.kind === 'key' && path.includes(':project_id/') ? 'hidden' : 'accepted';
}

function readOutcome(status: number, text: string, projectId: string): Outcome {
  // The dialects have errors of their own. Dify knows no 401.
  if (status === 401 || (status === 403 && text.includes('"code":"APIKEY_VALIDATION_FAILED"'))) return 'unknown caller';
  if (status === 403) return 'refused';
  return status === 404 && text.includes(projectId) ? 'hidden' : 'accepted';
}

const plain = { capabilities: {}, clientInfo: { name: 'matrix', version: '1' }, protocolVersion: '2025-11-25' };
const sum = { name: 'calculator__evaluate', arguments: { expression: '6*7' } };
const post = { name: 'slack__post_message', arguments: { channel: 'c', text: 't' } };

/** The requests of the table. `shows` is found in an answer only when the request was carried out. */
function mcpRequests({ collectionId, recordId }: { collectionId: string; recordId: string }) {
  const uri = `quartermaster://collections/${collectionId}/records/${recordId}`;
  const tool = (name: string, input: object, shows: RegExp) => ({
    ...{ method: 'tools/call', params: { name, arguments: input } as object, shows },
  });
  const noCredentials = /SLACK_BOT_TOKEN/;
  return {
    initialize: { method: 'initialize', params: plain, shows: /"serverInfo"/ },
    ping: { method: 'ping', params: {}, shows: /"result"/ },
    'tools/list': { method: 'tools/list', params: {}, shows: /"tools"/ },
    'resources/list': { method: 'resources/list', params: {}, shows: /"resources"/ },
    'resources/templates/list': { method: 'resources/templates/list', params: {}, shows: /"resourceTemplates"/ },
    'resources/read': { method: 'resources/read', params: { uri }, shows: /otters/ },
    search: tool('search', { query: 'paint' }, /otters/),
    fetch: tool('fetch', { id: uri }, /otters/),
    list_collections: tool('list_collections', {}, new RegExp(collectionId)),
    search_tools: tool('search_tools', { query: 'evaluate an expression' }, /calculator__evaluate/),
    call_read_tool: tool('call_read_tool', sum, /42/),
    call_tool: tool('call_tool', sum, /42/),
    'a plugin that reads': { method: 'tools/call', params: sum, shows: /42/ },
    'a plugin that writes': { method: 'tools/call', params: post, shows: noCredentials },
    'call_tool with a plugin that writes': tool('call_tool', post, noCredentials),
    'call_read_tool with a plugin that writes': tool('call_read_tool', post, noCredentials),
  };
}

/** What names an object of the first project. */
const ofProject = new Set(['resources/read', 'search', 'fetch', 'list_collections']);
const server = 'plugins:read or collections:read';

test('[authorisation] over MCP each method and each tool accepts the callers of the table and refuses all others', async (t) => {
  const { callers, bases, document } = await opened();
  const requests = mcpRequests(document);
  const needs = Object.entries(mcpNeeds).flatMap(([need, names]) => names.map((name) => [name, need] as const));
  assert.deepEqual(needs.map(([name]) => name).sort(), Object.keys(requests).sort());
  const wrong: string[] = [];
  let cells = 0;
  const ask = async (
    address: AddressName,
    caller: Caller,
    { method, params }: { method: string; params: object },
    query = '',
  ) => {
    const answer = await request(`${bases[address]}/mcp${query}`, {
      method: 'POST',
      headers: { ...caller.headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  for (const address of ['files', 'plugins'] as const) {
    for (const caller of callers) {
      const subject = subjectAt(caller, address);
      const on = { address, path: '/mcp' };
      const accepts = (name: string, need: string) => {
        const outer = outcomeOf(server, subject, on);
        if (outer !== 'accepted') return outer;
        if (need === 'nobody' || (caller.isForeign === true && ofProject.has(name))) return 'refused';
        return outcomeOf(need as Need, subject, on); // the keys of the table
      };
      const check = async ([name, need]: (typeof needs)[number]) => {
        const { shows, ...request } = requests[name];
        const { status, text } = await ask(address, caller, request);
        const found = status === 401 ? 'unknown caller' : status === 200 && shows.test(text) ? 'accepted' : 'refused';
        const expected = accepts(name, need);
        cells += 1;
        if (found !== expected)
          wrong.push(`${address} ${name}: ${caller.name}: ${found}, not ${expected}: ${text.slice(0, 200)}`);
      };
      await Promise.all(needs.map(check));
      const lists = await Promise.all(
        ['', '?tools=all'].map((query) => ask(address, caller, requests['tools/list'], query)),
      );
      const listed = new Set(
        lists.flatMap(({ text }) => [...text.matchAll(/"name":"([a-z_]+)"/g)].map(([, name]) => name)),
      );
      const tools = { 'a plugin that reads': sum.name, 'a plugin that writes': post.name };
      for (const [name, need] of needs) {
        const tool = name in tools ? tools[name as keyof typeof tools] : name;
        if (requests[name].method !== 'tools/call' || / with /.test(name)) continue;
        cells += 1;
        const isExpected =
          outcomeOf(server, subject, on) === 'accepted' && outcomeOf(need as Need, subject, on) === 'accepted';
        if (listed.has(tool) !== isExpected)
          wrong.push(`${address} lists ${tool}: ${caller.name}: ${listed.has(tool)}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(`${cells} cells: ${needs.length} requests, ${callers.length} callers, 2 addresses`);
});

import { join } from 'node:path';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings, mapWithConcurrency } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { generateValue, type KnownIds } from './generate-value.ts';
import type { Schema } from './operations.ts';
import { probeHealth } from './probe-health.ts';
import { canary, openTwoProjects } from './two-projects.ts';

/** A JSON-RPC request, in which `{name}` stands for an id. */
interface McpCall {
  readonly method: string;
  readonly params: object;
}

const document = 'quartermaster://collections/{collection_id}/records/{record_id}';
const passage = 'quartermaster://collections/{collection_id}/chunks/{chunk_id}';
const tool = (name: string, input: object): McpCall => ({ method: 'tools/call', params: { name, arguments: input } });
const words = canary.slice(0, 13);

/** Every way to read a document. Each shows the canary to a caller who may read it. */
const readings: readonly McpCall[] = [
  tool('search', { query: words }),
  tool('search', { query: words, collections: ['{collection_id}'], top_k: 20, max_tokens: 24_000 }),
  ...[tool('fetch', { id: document }), tool('fetch', { id: passage }), tool('list_collections', {})],
  ...[document, passage].map((uri) => ({ method: 'resources/read', params: { uri } })),
  { method: 'resources/list', params: {} },
];
/** Ways to find out whether an id exists. */
const probings: readonly McpCall[] = [
  tool('list_collections', { cursor: '{collection_id}' }),
  tool('fetch', { id: `${document}?after={chunk_id}&offset=1` }),
  ...['{collection_id}', '{collection_id}.{record_id}'].map((cursor) => ({
    method: 'resources/list',
    params: { cursor },
  })),
  ...['tools/list', 'resources/templates/list', 'server/discover'].map((method) => ({ method, params: {} })),
];
const paths = ['/mcp', '/mcp?links=1', '/mcp?profile=chatgpt', '/mcp/collections/{collection_id}', '/mcp/proof'];

interface Caller {
  readonly name: string;
  readonly key: string | undefined;
  readonly mayRead: boolean;
}

interface McpAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Reads the documents of the first project over MCP, with keys of both projects that have different scopes, and without a key. Then
 * sends generated arguments. Only keys of the first project with the scope `collections` may see documents, and ids of the first project
 * must get exactly the response that non-existent ids get.
 */
export async function mcpDocuments(options: PartOptions): Promise<PartReport> {
  const endings = createEndings();
  const findings = options.findings;
  const counts = { cells: 0, shown: 0, requests: 0 };
  try {
    const { service, first, second, ids } = await openTwoProjects(join(options.work, 'mcp'), endings);
    const nothing = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, `${id.slice(0, -4)}0000`]));
    const callers: Caller[] = [
      { name: 'no key', key: undefined, mayRead: false },
      { name: 'an unknown key', key: `${first.key.slice(0, -4)}0000`, mayRead: false },
    ];
    for (const scopes of options.slice ? [['collections'], ['files', 'plugins']] : scopeSets) {
      const mayRead = scopes.includes('collections');
      callers.push({ name: `${scopes.join(' ')} of the first`, key: await first.createKey(scopes), mayRead });
      callers.push({ name: `${scopes.join(' ')} of the second`, key: await second.createKey(scopes), mayRead: false });
    }
    const places = [service.filesUrl, service.pluginsUrl].flatMap((base) => paths.map((path) => ({ base, path })));
    const grid = callers.flatMap((caller) =>
      places.flatMap((place) => [...readings, ...probings].map((call) => ({ caller, call, ...place }))),
    );
    await mapWithConcurrency(grid, 4, async ({ caller, call, base, path }) => {
      const cell = `${path} ${call.method} ${JSON.stringify(call.params).slice(0, 60)} with ${caller.name}`;
      const ask = (known: Readonly<Record<string, string>>) =>
        send(fillIn(base + path, known), fillIn(JSON.stringify(call), known), caller.key);
      const foreign = await ask(ids);
      counts.cells += 1;
      judge(foreign, { cell, caller, findings });
      if (caller.mayRead) {
        if (!readings.includes(call) || path === '/mcp/proof') return;
        counts.shown += 1;
        if (foreign?.text.includes(canary) !== true) findings.add('lost', `${cell}: not shown`);
      } else if (shape(foreign, ids) !== shape(await ask(nothing), nothing)) {
        findings.add('leaked', `${cell} tells a foreign id from an absent one: ${shape(foreign, ids)}`);
      }
    });
    const health = probeHealth(service);
    const schemas = await readSchemas(`${service.filesUrl}/mcp`, first.key);
    const requests = options.slice ? 300 : 6_000;
    const attack = async (worker: number) => {
      const random = options.random.fork(`mcp ${worker}`);
      while (counts.requests++ < requests) {
        const { base, path } = random.pick(places) ?? { base: service.filesUrl, path: '/mcp' };
        const caller = random.pick(callers) as Caller; // there are several
        const call = generateCall(schemas, random, ids);
        const answer = await send(fillIn(base + path, ids), JSON.stringify(call), caller.key);
        judge(answer, { cell: `${path} ${JSON.stringify(call).slice(0, 200)} with ${caller.name}`, caller, findings });
      }
    };
    await Promise.all([1, 2, 3, 4].map(attack));
    const probed = await health.stop();
    if (probed.silent > 0) findings.add('unavailable', `${probed.silent} health probes without an answer`);
    const code = await service.stop();
    if (code !== 0) findings.add('unavailable', `the service ended with ${code}: ${service.log().slice(-500)}`);
    return {
      name: 'Documents over MCP',
      cases: counts.cells + requests,
      figures: { keys: callers.length, cells: counts.cells, 'cells that show it': counts.shown, requests },
    };
  } finally {
    await endings.end();
  }
}

const scopeSets: readonly (readonly string[])[] = [
  ...[['files'], ['collections'], ['plugins'], ['metrics'], ['files', 'plugins', 'metrics', 'admin']],
  ...[
    ['collections', 'plugins'],
    ['files', 'collections', 'plugins', 'metrics', 'admin'],
  ],
];

function fillIn(text: string, ids: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+_id)\}/g, (_, name: string) => ids[name] ?? name);
}

/** Sends one message. Returns `undefined` when no response arrived in time. */
async function send(url: string, message: string, key: string | undefined): Promise<McpAnswer | undefined> {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
  };
  const body = `{"jsonrpc":"2.0","id":1,${message.slice(1)}`;
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(20_000) });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return undefined;
  }
}

interface Judging extends Pick<PartOptions, 'findings'> {
  readonly cell: string;
  readonly caller: Caller;
}

function judge(answer: McpAnswer | undefined, { cell, caller, findings }: Judging): void {
  if (answer === undefined) findings.add('unavailable', `${cell} was not answered`);
  else if (answer.text.includes(canary) && !caller.mayRead) findings.add('leaked', `${cell} shows a document`);
  else if (answer.status >= 500 || answer.text.includes('"code":-32603')) {
    findings.add('wrong error', `${cell}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
}

/** Returns the response without the parts that differ between requests. */
function shape(answer: McpAnswer | undefined, ids: Readonly<Record<string, string>>): string {
  if (answer === undefined) return 'none';
  let text = answer.text;
  for (const id of Object.values(ids)) text = text.replaceAll(id, 'ID');
  return `${answer.status} ${text.replace(/"request_id":"[^"]*"/, '')}`;
}

type Schemas = ReadonlyArray<{ readonly name: string; readonly inputSchema: Schema }>;

/** Reads the definitions of the knowledge tools. */
async function readSchemas(url: string, key: string): Promise<Schemas> {
  const answer = await send(url, JSON.stringify({ method: 'tools/list', params: {} }), key);
  const { result } = JSON.parse(answer?.text ?? '{}') as { result: { tools: Schemas } };
  return result.tools.slice(0, 3);
}

function generateCall(schemas: Schemas, random: Random, ids: Readonly<Record<string, string>>): McpCall {
  const uris = [document, passage, `${document}?after={chunk_id}`].map((uri) => fillIn(uri, ids));
  const mutate = (uri: string) => {
    const at = random.below(uri.length);
    return random.chance(0.5)
      ? uri
      : `${uri.slice(0, at)}${random.pick(['%2f', '..', 'z', '\u0000', '?', '🦆'])}${uri.slice(at + 1)}`;
  };
  const known: KnownIds = {
    pick: (name) => {
      if (name === 'id' || name === 'uri') return mutate(random.pick(uris) ?? '');
      return name === 'cursor' || name === 'collections' ? ids.collection_id : undefined;
    },
  };
  if (random.chance(0.3)) return { method: 'resources/read', params: { uri: known.pick('uri') } };
  const { name, inputSchema } = random.pick(schemas) ?? { name: 'search', inputSchema: {} };
  return tool(name, generateValue(inputSchema, random, known) as object);
}

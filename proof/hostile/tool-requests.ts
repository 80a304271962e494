import type { StartedService } from '../../test/support/service.ts';
import type { Random } from '../support/random.ts';
import { generateText } from './generate-value.ts';

/** A plugin with an input that it accepts. */
export interface Target {
  readonly bundle: string;
  readonly plugin: string;
  readonly input: object;
}

export const targets: readonly Target[] = [
  { bundle: 'proof', plugin: 'read', input: { q: 'limited' } },
  { bundle: 'proof', plugin: 'write', input: { q: 'limited' } },
  { bundle: 'calculator', plugin: 'evaluate', input: { expression: '6*7' } },
  { bundle: 'arithmetic', plugin: 'add', input: { number_1: 1, number_2: 2 } },
  { bundle: 'time', plugin: 'list_timezones', input: {} },
];

export interface Caller {
  readonly key: string;
  readonly tools: readonly string[] | null;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export const toolName = ({ bundle, plugin }: Target) => `${bundle}__${plugin}`;
export const call = (name: string, input: object) => ({ method: 'tools/call', params: { name, arguments: input } });

/** Sends a list, a search, a page of the catalogue or a new key with generated fields. */
export async function sendGenerated(
  service: StartedService,
  projectId: string,
  { caller, random }: { caller: Caller; random: Random },
) {
  const { filesUrl, pluginsUrl } = service;
  const { key } = caller;
  const word = () => generateText({}, random, { pick: () => random.pick(words) }, 'name');
  const list = (name: string) =>
    Array.from({ length: 1 + random.below(3) }, () => random.pick(known[name] ?? words)).join(',');
  const query = new URLSearchParams();
  const draw = (names: readonly string[], value: (name: string) => string) => {
    for (const name of names) if (random.chance(0.3)) query.append(name, random.chance(0.85) ? value(name) : word());
  };
  const base = random.pick([filesUrl, pluginsUrl]) ?? filesUrl;
  const kind = random.below(4);
  if (kind === 0) {
    const tools = random.pick([
      [word(), word()],
      [word()],
      [],
      word(),
      null,
      Array.from({ length: 201 }, () => 'time'),
      [7],
    ]);
    const body = { name: 'generated', scopes: ['plugins'], tools };
    const answer = await post(`${filesUrl}/v1/projects/${projectId}/keys`, body, {
      key: random.chance(0.5) ? service.key : key,
    });
    return { cell: `a key with ${JSON.stringify(tools)?.slice(0, 100)}`, answer, isList: false };
  }
  if (kind === 1) {
    draw(['q', 'limit', 'after', 'before'], (name) => (name === 'limit' ? String(random.below(150) - 5) : word()));
    const path = `${base === filesUrl ? '/plugins' : ''}/v1/${random.pick(['plugins', 'bundles'])}?${query}`;
    return { cell: path, answer: await send(base + path, { key, method: 'GET' }), isList: false };
  }
  if (random.chance(0.2)) query.append('toolset', random.pick(Object.keys(toolsets)) ?? '');
  else {
    draw(['bundles', 'tools', 'toolset', 'profile'], (name) =>
      name === 'tools' && random.chance(0.3) ? 'all' : list(name),
    );
  }
  const path = `/mcp${random.chance(0.2) ? `/${random.pick(['proof', 'time', 'calculator', encodeURIComponent(word().toWellFormed()) || 'x'])}` : ''}?${query}`;
  const cursor = random.chance(0.3) ? { cursor: random.pick(['0.abc', 'after-5', 'after-999', word()]) } : {};
  const message =
    kind === 2
      ? { method: 'tools/list', params: cursor }
      : call('search_tools', {
          query: random.chance(0.8) ? random.pick(words) : word(),
          limit: random.below(14),
          ...cursor,
        });
  const answer = await post(base + path, rpc(message), { key });
  // Only where a known toolset alone chooses the tools.
  const [name = ''] = query.getAll('toolset');
  const isChosen = query.size === 1 && path.startsWith('/mcp?');
  const toolset = isChosen ? toolsets[name] : undefined;
  return { cell: `${path} ${JSON.stringify(message).slice(0, 120)}`, answer, isList: true, toolset };
}

/** The toolsets of the service, with a tool that no bundle has. */
export const toolsets: Readonly<Record<string, readonly string[]>> = {
  office: ['proof', 'time'],
  single: ['calculator__evaluate'],
};

/** Names that the parameters of a URL may have. */
const known: Readonly<Record<string, readonly string[]>> = {
  bundles: ['proof', 'time', 'calculator', 'arithmetic', 'gmail'],
  tools: targets.map(toolName),
  toolset: Object.keys(toolsets),
  profile: ['chatgpt'],
};

/** Words of questions, and names of bundles and plugins. */
const words = [
  ...['proof', 'time', 'calculator', 'proof__read', 'proof__write', 'calculator__evaluate', 'arithmetic/add'],
  ...['send a text to the third party', 'what time is it', 'add two numbers', '天气', 'send a message'],
];

export function rpc(message: object): object {
  return { jsonrpc: '2.0', id: 1, ...message };
}

interface Request {
  readonly key: string;
  readonly headers?: Record<string, string>;
}

export function post(url: string, body: object, { key, headers = {} }: Request): Promise<Answer | undefined> {
  const types = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  return send(url, { key, method: 'POST', headers: { ...types, ...headers }, body: JSON.stringify(body) });
}

/** Returns `undefined` when no response arrived in time. */
async function send(
  url: string,
  { key, headers, ...init }: Request & { method: string; body?: string },
): Promise<Answer | undefined> {
  const all = { ...headers, Authorization: `Bearer ${key}` };
  try {
    const answer = await fetch(url, { ...init, headers: all, signal: AbortSignal.timeout(20_000) });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return undefined;
  }
}

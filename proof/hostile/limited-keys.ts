import { join } from 'node:path';
import type { StartedService } from '../../test/support/service.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings, mapWithConcurrency } from '../support/endings.ts';
import { probeHealth } from './probe-health.ts';
import {
  type Answer,
  type Caller,
  call,
  post,
  rpc,
  sendGenerated,
  type Target,
  targets,
  toolName,
  toolsets,
} from './tool-requests.ts';
import { openTwoProjects } from './two-projects.ts';

/** The tools of keys; null for every plugin. */
const toolSets: ReadonlyArray<readonly string[] | null> = [
  null,
  ['proof'],
  ['proof/read', 'time'],
  ['calculator/evaluate', 'arithmetic/add'],
  ['not_installed', 'proof/nothing'],
];

interface Way {
  readonly name: string;
  send(service: StartedService, key: string, target: Target): Promise<Answer | undefined>;
}

/** Every way to run a plugin, at both addresses. */
function waysAt(place: 'files' | 'plugins'): Way[] {
  const rest = ({ filesUrl, pluginsUrl }: StartedService) => (place === 'files' ? `${filesUrl}/plugins` : pluginsUrl);
  const mcp = ({ filesUrl, pluginsUrl }: StartedService) => `${place === 'files' ? filesUrl : pluginsUrl}/mcp`;
  const run = (name: string, body: (target: Target) => object, headers: Record<string, string> = {}): Way => ({
    name: `${name} at the ${place} address`,
    send: (service, key, target) =>
      post(
        `${rest(service)}/v1/execute`,
        { ...body(target), input_params: target.input, credentials: {} },
        { key, headers },
      ),
  });
  const ask = (name: string, query: (target: Target) => string, message: (target: Target) => object): Way => ({
    name: `${name} at the ${place} address`,
    send: (service, key, target) => post(mcp(service) + query(target), rpc(message(target)), { key }),
  });
  const byIds = ({ bundle, plugin }: Target) => ({ bundle_id: bundle, plugin_id: plugin });
  return [
    run('execute by ids', byIds),
    run('execute by name', (target) => ({ tool_name: toolName(target) })),
    run('asynchronous run', byIds, { Prefer: 'respond-async' }),
    {
      name: `direct call at the ${place} address`,
      send: (service, key, { bundle, plugin, input }) =>
        post(`${rest(service)}/v1/bundles/${bundle}/plugins/${plugin}/execute`, input, { key }),
    },
    ask(
      'MCP',
      () => '',
      (target) => call(toolName(target), target.input),
    ),
    ask(
      'MCP with every tool',
      () => '?tools=all',
      (target) => call(toolName(target), target.input),
    ),
    ask(
      'MCP of a bundle',
      ({ bundle }) => `/${bundle}`,
      ({ plugin, input }) => call(plugin, input),
    ),
    ask(
      'call_tool',
      () => '',
      (target) => call('call_tool', { name: toolName(target), arguments: target.input }),
    ),
  ];
}

/**
 * Runs plugins in every way with keys that are bound to tools, and lists and searches tools with generated choices. A key runs its own
 * plugins and no others, and sees no others over MCP.
 */
export async function limitedKeys(options: PartOptions): Promise<PartReport> {
  const endings = createEndings();
  const { findings } = options;
  const requests = options.slice ? 200 : 4_000;
  const counts = { cells: 0, ran: 0, sent: 0, listed: 0, chosen: 0 };
  try {
    const place = join(options.work, 'limited-keys');
    const { service, first } = await openTwoProjects(place, endings, {
      PLUGINS_KEY: 'required',
      MCP_TOOLSETS: JSON.stringify(toolsets),
    });
    const callers: Caller[] = [];
    for (const tools of toolSets) callers.push({ tools, key: await createKey(service, first.id, tools) });
    const ways = [...waysAt('files'), ...waysAt('plugins')];
    const grid = callers.flatMap((caller) => targets.flatMap((target) => ways.map((way) => ({ caller, target, way }))));
    await mapWithConcurrency(grid, 4, async ({ caller, target, way }) => {
      const cell = `${way.name}: ${toolName(target)} with ${JSON.stringify(caller.tools)}`;
      const answer = await way.send(service, caller.key, target);
      counts.cells += 1;
      if (answer === undefined) return findings.add('unavailable', `${cell} was not answered`);
      const ran = hasRun(answer);
      counts.ran += Number(ran);
      if (ran && !mayRun(caller, target)) findings.add('leaked', `${cell} ran`);
      // Keys bound to a few tools have these listed, so the tools that call others are not offered.
      if (!ran && mayRun(caller, target) && (caller.tools === null || !way.name.startsWith('call_tool'))) {
        findings.add('wrong error', `${cell} did not run: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
    });
    const health = probeHealth(service);
    const attack = async (worker: number) => {
      const random = options.random.fork(`limited ${worker}`);
      while (counts.sent++ < requests) {
        const caller = random.pick(callers) as Caller; // there are several
        const { cell, answer, isList, toolset } = await sendGenerated(service, first.id, { caller, random });
        if (answer === undefined) findings.add('unavailable', `${cell} was not answered`);
        else if (answer.status >= 500 || answer.text.includes('"code":-32603')) {
          findings.add('wrong error', `${cell}: ${answer.status} ${answer.text.slice(0, 200)}`);
        } else if (isList) {
          const names = namesIn(answer.text);
          counts.listed += names.length;
          counts.chosen += Number(toolset !== undefined && names.length > 0);
          const foreign = names.filter((name) => !mayList(caller, name) || !isChosen(toolset, name));
          if (foreign.length > 0)
            findings.add('leaked', `${cell} with ${JSON.stringify(caller.tools)} shows ${foreign}`);
        }
      }
    };
    await Promise.all([1, 2, 3, 4].map(attack));
    if (counts.chosen === 0) findings.add('wrong error', 'no generated request listed the tools of a toolset');
    const probed = await health.stop();
    if (probed.silent > 0) findings.add('unavailable', `${probed.silent} health probes without an answer`);
    await service.stop();
    const { cells, ran, listed, chosen } = counts;
    return {
      name: 'Keys bound to tools',
      cases: cells + requests,
      figures: {
        keys: callers.length,
        ways: ways.length,
        cells,
        'cells that ran': ran,
        requests,
        'tools listed': listed,
        'lists of a toolset': chosen,
      },
    };
  } finally {
    await endings.end();
  }
}

function mayRun({ tools }: Caller, { bundle, plugin }: Target): boolean {
  return tools === null || tools.includes(bundle) || tools.includes(`${bundle}/${plugin}`);
}

/** Whether a toolset has a tool, or there is none. */
function isChosen(toolset: readonly string[] | undefined, name: string): boolean {
  return toolset === undefined || mayList({ key: '', tools: toolset.map((tool) => tool.replace('__', '/')) }, name);
}

/** Whether a key may see the name of a tool, in its long form or in that of its bundle's endpoint. */
function mayList({ tools }: Caller, name: string): boolean {
  if (tools === null || ownNames.has(name)) return true;
  return tools.some((tool) => {
    const [bundle, plugin] = tool.split('/');
    if (plugin !== undefined) return name === plugin || name === `${bundle}__${plugin}`;
    return (
      name.startsWith(`${bundle}__`) ||
      targets.some((target) => target.bundle === bundle && name === target.plugin) ||
      (bundle === 'time' && !name.includes('__'))
    );
  });
}

/** The names of the service's own tools. */
const ownNames = new Set(['search_tools', 'call_read_tool', 'call_tool', 'search', 'fetch', 'list_collections']);

function namesIn(text: string): string[] {
  const { result } = parse(text);
  const found = result?.structuredContent?.tools ?? result?.tools ?? [];
  return found.map(({ name }) => name);
}

interface Listed {
  readonly tools?: ReadonlyArray<{ readonly name: string }>;
  readonly structuredContent?: Listed;
  readonly isError?: boolean;
}

function parse(text: string): { readonly result?: Listed; readonly status?: string } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Whether the answer is that of a plugin that ran, or of an accepted run. */
function hasRun({ status, text }: Answer): boolean {
  const { result } = parse(text);
  if (result !== undefined) return result.isError !== true;
  return status < 300 && !text.includes('"jsonrpc"');
}

async function createKey(service: StartedService, projectId: string, tools: readonly string[] | null): Promise<string> {
  const body = { name: 'bound', scopes: ['plugins'], ...(tools === null ? {} : { tools }) };
  const answer = await post(`${service.filesUrl}/v1/projects/${projectId}/keys`, body, { key: service.key });
  const { data } = JSON.parse(answer?.text ?? '{}') as { data?: { key?: string } };
  if (data?.key === undefined) throw new Error(`no key for ${JSON.stringify(tools)}: ${answer?.text.slice(0, 200)}`);
  return data.key;
}

import type { Static, TSchema } from 'typebox';
import { createPluginsGuard, type PluginsGuard } from '../../access/authentication.ts';
import { createChallenge } from '../../access/oauth/challenge.ts';
import { resourceMetadataRoutes } from '../../access/oauth/metadata-routes.ts';
import type { AddressName, Resources } from '../../access/oauth/resources.ts';
import { once } from '../../platform/concurrency/once.ts';
import { type CheckSite, createCheckSite } from '../../platform/http/allowed-hosts.ts';
import type { App } from '../../platform/http/app.ts';
import { compileValidator, validationProblem } from '../../platform/http/validation.ts';
import { Counter } from '../../platform/metrics.ts';
import { version } from '../../platform/version.ts';
import type { PluginSearch } from '../../tools/catalogue/plugin-search.ts';
import type { CallTool } from '../../tools/mcp/call-tool.ts';
import type { EndpointsDeps } from '../../tools/mcp/endpoints.ts';
import type { KnowledgeStore } from '../../tools/mcp/knowledge/knowledge-store.ts';
import { type Mcp, mcpRoutes } from '../../tools/mcp/routes.ts';
import type { FindProfiles } from '../../tools/mcp/toolsets/availability.ts';
import { createPluginSearch } from '../../tools/mcp/toolsets/plugin-search.ts';
import type { ServiceContext } from './context.ts';
import { openTokens } from './wire-oauth.ts';

/** The MCP endpoints, which both addresses share. They are created when the first client connects. */
export interface SharedMcp {
  /** Loads the MCP library. Awaited before a port opens, because loading blocks the event loop for longer than a request may. */
  readonly preload: () => Promise<unknown>;
  readonly open: () => Promise<Mcp>;
  readonly toolsChanged: (...catalogues: Parameters<Mcp['endpoints']['toolsChanged']>) => void;
  /** Ends the streams of subscribed clients. */
  readonly close: () => void;
  /** Whether there are knowledge tools. */
  readonly hasKnowledge: boolean;
}

function checkArguments<Schema extends TSchema>(
  schema: Schema,
  sent: Readonly<Record<string, unknown>>,
): Static<Schema> {
  const validate = compileValidator({ schema, method: 'POST', url: '/mcp', httpPart: 'body' });
  if (validate(sent) === true) return sent as Static<Schema>; // the validator has checked it
  throw validationProblem(validate.errors ?? [], 'arguments');
}

/** The modules that use the MCP library. Commands that only import this module never load it. */
const loadLibrary = once(async () => ({
  ...(await import('../../tools/mcp/endpoints.ts')),
  ...(await import('../../tools/mcp/knowledge/knowledge.ts')),
  ...(await import('../../tools/mcp/toolsets/search-tools.ts')),
}));

export interface SharedMcpDeps extends Pick<EndpointsDeps, 'callTool'> {
  readonly catalogue: EndpointsDeps['catalogue'];
  readonly search: PluginSearch;
  readonly findProfiles: FindProfiles;
  /** Null when this process serves no collections. */
  readonly store: KnowledgeStore | null;
}

export function shareMcp(
  { logger, registry, config, shares: streams }: Pick<ServiceContext, 'logger' | 'registry' | 'config' | 'shares'>,
  { store, catalogue, callTool, search, findProfiles }: SharedMcpDeps,
): SharedMcp {
  const calls = new Counter({
    name: 'quartermaster_knowledge_calls_total',
    help: 'Calls of MCP tools and methods for resources that read collections, by tool or method and outcome: succeeded, client_gone, or the error code in lower case.',
    labelNames: ['tool', 'outcome'],
    registers: [registry],
  });
  const countCall = (tool: string, outcome: string) => calls.inc({ tool, outcome });
  const searches = new Counter({
    name: 'quartermaster_tool_searches_total',
    help: 'Calls of the MCP tool `search_tools`, by outcome: found, nothing, or the error code in lower case.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const countSearch = (outcome: string) => searches.inc({ outcome });
  let mcp: Promise<Mcp> | undefined;
  async function load(): Promise<Mcp> {
    const { createEndpoints, createKnowledge, createSearchTools } = await loadLibrary();
    const knowledge = store === null ? null : createKnowledge({ store, check: checkArguments, countCall, logger });
    const searchTools = createSearchTools({ search, check: checkArguments, countSearch });
    const offers = { searchTools, findProfiles, listTokens: config.mcpListTokens };
    const toolsets = config.mcpToolsets;
    return {
      endpoints: createEndpoints({ catalogue, callTool, knowledge, offers, toolsets, streams, version, logger }),
    };
  }
  return {
    preload: loadLibrary,
    open: () => {
      mcp ??= load();
      return mcp;
    },
    toolsChanged: (now, before) => void mcp?.then(({ endpoints }) => endpoints.toolsChanged(now, before)),
    close: () => void mcp?.then(({ endpoints }) => endpoints.close()),
    hasKnowledge: store !== null,
  };
}

/** The endpoints of a process without the plugins address. They have no plugins. */
export function shareKnowledge(context: ServiceContext, store: KnowledgeStore): SharedMcp {
  const callTool: CallTool = () => Promise.reject(new Error('there are no plugins to call'));
  const describe = () => {
    throw new Error('there are no plugins to describe');
  };
  const lists = { describePlugin: describe };
  const empty = { bundles: new Map(), ...lists, describeBundle: describe, withoutFiles: lists };
  const catalogue = () => empty;
  const findProfiles = async () => new Map();
  return shareMcp(context, { store, catalogue, callTool, search: createPluginSearch(catalogue), findProfiles });
}

export interface ServedMcp {
  readonly mcp: SharedMcp;
  readonly guard: PluginsGuard;
  readonly checkSite: CheckSite;
  readonly resources: Resources;
  readonly address: AddressName;
}

/** Serves the endpoints at one address. */
export function serveMcp(app: App, { mcp, guard, checkSite, resources, address }: ServedMcp): void {
  resourceMetadataRoutes(app, { resources, address });
  mcpRoutes(app, {
    addChallenge: createChallenge(resources, address),
    open: mcp.open,
    checkSite,
    guard: {
      check: mcp.hasKnowledge ? guard.checkEither : guard.checkRead,
      checkPlugins: guard.checkRead,
      checkCollections: guard.requires('collections:read'),
      findCaller: guard.findCaller,
    },
  });
}

/** Serves the endpoints at the files address, which always requires a key. */
export function serveMcpOfFiles(context: ServiceContext, app: App, mcp: SharedMcp): void {
  const { config, keyRing, mounted } = context;
  const { host, publicFilesUrl: publicUrl, mcpHosts: names, corsOrigins } = config;
  const checkSite = createCheckSite({ host, publicUrl, names, keyRequired: true, corsOrigins });
  const { tokens, ...challenge } = openTokens(context, 'files');
  const guard = createPluginsGuard({ keyRing, tokens, keyRequired: true, mounted });
  serveMcp(app, { mcp, guard, checkSite, ...challenge });
}

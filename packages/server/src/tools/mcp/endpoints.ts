import { memoize } from '../../platform/memoize.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { pathNotFound } from '../../platform/problem.ts';
import { type Catalogue, type CompiledPlugin, isRetired } from '../catalogue/catalogue.ts';
import { bundleRetired } from '../catalogue/problems.ts';
import { createEndpoint, type Endpoint, type EndpointDeps, type McpCaller, type McpRequest } from './endpoint.ts';
import type { McpAnswer } from './mcp-answer.ts';
import { createToolboxes, type Toolbox, type Toolboxes, type ToolCatalogue } from './toolbox.ts';
import type { Choice } from './toolsets/choice.ts';
import { chooseTools, noTools, type Toolsets } from './toolsets/chosen-tools.ts';

export interface EndpointsDeps extends EndpointDeps {
  /** Returns the catalogue in force. A new object means that tools have changed. */
  readonly catalogue: () => ToolCatalogue;
  readonly toolsets: Toolsets;
}

/** The tools that a URL names, and what the caller may do. */
export interface AskedTools {
  readonly choice: Choice;
  readonly permissions: Permissions;
}

/** Answers a request at the URL for which it was opened. */
export type AnswerRequest = (request: McpRequest, message: unknown, caller: McpCaller) => Promise<McpAnswer>;

/** One endpoint for all tools, one for each bundle and one for all collections, each created at its first request. */
export interface Endpoints {
  /**
   * @param bundleId undefined for the endpoint of all tools
   * @throws Problem when the bundle or a name of the choice does not exist
   */
  openPlugins(bundleId: string | undefined, asked: AskedTools): AnswerRequest;
  /**
   * Opens the endpoint of a collection. It has no plugins.
   * @throws Problem when the collection does not exist or belongs to another project
   */
  openCollection(projectId: string, collectionId: string): Promise<AnswerRequest>;
  /** Notifies subscribed clients whose tools differ in the new catalogue. */
  toolsChanged(catalogue: Pick<Catalogue, 'bundles'>, previous: Pick<Catalogue, 'bundles'>): void;
  /** Ends the streams of subscribed clients. */
  close(): Promise<void>;
}

export function createEndpoints(deps: EndpointsDeps): Endpoints {
  const { toolsets } = deps;
  let listed = deps.catalogue();
  let toolboxes = createBoth(listed, deps.logger);
  /** By the id of the bundle. */
  const endpoints = new Map<string, Endpoint>();

  function endpointOf(name: string, own: EndpointDeps): Endpoint {
    const endpoint = endpoints.get(name) ?? createEndpoint(own);
    endpoints.set(name, endpoint);
    return endpoint;
  }

  return {
    openPlugins(bundleId, { choice, permissions }) {
      const catalogue = deps.catalogue();
      if (catalogue !== listed) toolboxes = createBoth(catalogue, deps.logger);
      listed = catalogue;
      const bundle = catalogue.bundles.get(bundleId ?? '');
      if (bundle !== undefined && isRetired(bundle) && permissions.seesBundle(bundle.id)) throw bundleRetired(bundle);
      const isLimited = permissions.tools !== null;
      const permitted = permittedTo(permissions, toolboxes(permissions.has('files:read')));
      const tools = chooseTools(permitted, bundleId, { choice, toolsets, isLimited });
      // An endpoint of one bundle has no knowledge tools.
      const own = bundleId === undefined ? deps : { ...deps, knowledge: null };
      const endpoint = endpointOf(bundleId ?? everything, own);
      return (request, message, caller) => endpoint.answer(request, message, caller, tools);
    },
    async openCollection(projectId, collectionId) {
      if (deps.knowledge === null) throw pathNotFound();
      await deps.knowledge.checkCollection(projectId, collectionId);
      const endpoint = endpointOf(collections, deps);
      return (request, message, caller) => endpoint.answer(request, message, caller, noTools);
    },
    toolsChanged(catalogue, previous) {
      for (const [name, endpoint] of endpoints) {
        const isOther = catalogue.bundles.get(name) !== previous.bundles.get(name);
        if (name === everything || isOther) endpoint.notifyToolsChanged();
      }
    },
    async close() {
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
    },
  };
}

/** The toolboxes for callers who can name stored files in arguments, and for others; each created at its first use. */
function createBoth(catalogue: ToolCatalogue, logger: EndpointDeps['logger']): (namesFiles: boolean) => Toolboxes {
  const { bundles, withoutFiles } = catalogue;
  const created = new Map<boolean, Toolboxes>();
  return (namesFiles) => {
    const { describePlugin } = namesFiles ? catalogue : withoutFiles;
    const toolboxes = created.get(namesFiles) ?? createToolboxes({ bundles, describePlugin }, logger);
    created.set(namesFiles, toolboxes);
    return toolboxes;
  };
}

/** The key of the endpoint for all plugins. No bundle has this id. */
const everything = '';

/** The key of the endpoint for collections. No bundle has this id. */
const collections = ':collections';

/** Leaves only what the caller may run. To this caller, nothing else exists. */
function permittedTo(permissions: Permissions, toolboxes: Toolboxes): Toolboxes {
  const runnable = permissions.has('plugins') ? toolboxes : thatOnlyRead(toolboxes);
  if (permissions.tools === null) return runnable;
  return pickFrom(runnable, ({ bundle, id }) => permissions.seesPlugin(bundle.id, id));
}

/** Kept with the toolboxes, because it unpacks every manifest. */
const thatOnlyRead = memoize((toolboxes: Toolboxes) =>
  pickFrom(toolboxes, (plugin) => plugin.manifest.effects === 'read'),
);

function pickFrom({ all, ofBundle }: Toolboxes, isPermitted: (plugin: CompiledPlugin) => boolean): Toolboxes {
  const pick = (toolbox: Toolbox) => {
    const names = [...toolbox.plugins].filter(([, plugin]) => isPermitted(plugin));
    return toolbox.pick(new Set(names.map(([name]) => name)));
  };
  const bundles = [...ofBundle].map(([id, toolbox]) => [id, pick(toolbox)] as const);
  return { all: pick(all), ofBundle: new Map(bundles.filter(([, { isEmpty }]) => !isEmpty)) };
}

import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import { type CachedJson, createJsonCache, type JsonCache } from '../../platform/json/json-cache.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { Catalogue, CompiledPlugin } from '../catalogue/catalogue.ts';
import { mcp } from '../catalogue/provider-formats/mcp.ts';
import { shortToolName, toolName } from '../catalogue/provider-formats/tool-name.ts';
import { metaKeys } from './meta-keys.ts';

/** The tools of one endpoint. Schemas are read on demand, because there may be thousands. */
export interface Toolbox {
  /** In the order of the catalogue: by bundle id, then plugin id. Built on each access. */
  readonly tools: readonly Tool[];
  readonly isEmpty: boolean;
  /** All tools as JSON without the surrounding brackets; built once. */
  listed(): Promise<CachedJson>;
  findPlugin(name: string): CompiledPlugin | undefined;
  /** The plugins by the names of their tools, in the order of `tools`. */
  readonly plugins: ReadonlyMap<string, CompiledPlugin>;
  /** Defines one tool of this toolbox. */
  define(name: string, plugin: CompiledPlugin): Tool;
  /** Returns a toolbox with some of these tools, in the same order. */
  pick(names: ReadonlySet<string>): Toolbox;
}

/** No tools, for callers and endpoints without plugins. */
export const emptyToolbox: Toolbox = {
  tools: [],
  isEmpty: true,
  listed: () => createJsonCache().get('none', () => []),
  findPlugin: () => undefined,
  plugins: new Map(),
  define: () => {
    throw new Error('the empty toolbox has no tools');
  },
  pick: () => emptyToolbox,
};

/** The toolboxes of one catalogue. */
export interface Toolboxes {
  /** Every plugin, under names that are unique among all bundles. */
  readonly all: Toolbox;
  /** The plugins of one bundle, under their own ids. */
  readonly ofBundle: ReadonlyMap<string, Toolbox>;
}

/** The part of a catalogue that tools are created from. */
export type ToolCatalogue = Pick<Catalogue, 'bundles' | 'describePlugin'> & {
  readonly withoutFiles: Pick<Catalogue, 'describePlugin'>;
};
type ToolSource = Pick<Catalogue, 'bundles' | 'describePlugin'>;
type Define = (plugin: CompiledPlugin, name: string) => Tool;

/**
 * Creates the toolboxes. When two plugins have the same name, the second is left out and logged, so that no call reaches the wrong
 * plugin.
 */
export function createToolboxes(catalogue: ToolSource, logger: Pick<Logger, 'error'>): Toolboxes {
  const lists = createJsonCache();
  const define: Define = (plugin, name) => ({ ...defineTool(plugin, catalogue), name });
  const all = new Map<string, CompiledPlugin>();
  const ofBundle = new Map<string, Toolbox>();
  for (const bundle of catalogue.bundles.values()) {
    const own = new Map<string, CompiledPlugin>();
    for (const plugin of bundle.plugins.values()) {
      add(all, toolName(bundle.id, plugin.id), plugin, logger);
      add(own, shortToolName(plugin.id), plugin, logger);
    }
    ofBundle.set(bundle.id, createToolbox(own, { define, lists, of: bundle.id }));
  }
  return { all: createToolbox(all, { define, lists, of: '' }), ofBundle };
}

function add(
  plugins: Map<string, CompiledPlugin>,
  name: string,
  plugin: CompiledPlugin,
  logger: Pick<Logger, 'error'>,
): void {
  const other = plugins.get(name);
  if (other === undefined) {
    plugins.set(name, plugin);
    return;
  }
  const [first, second] = [other, plugin].map(({ bundle, id }) => `${bundle.id}/${id}`);
  logger.error({ tool: name, first, second }, 'tool omitted: another plugin has the same tool name');
}

interface ToolboxDeps {
  readonly define: Define;
  readonly lists: JsonCache;
  /** The bundle whose plugins have their short names; '' for all bundles. */
  readonly of: string;
}

function createToolbox(plugins: ReadonlyMap<string, CompiledPlugin>, deps: ToolboxDeps): Toolbox {
  const { define, lists, of } = deps;
  function* pieces(): Generator<string> {
    let comma = '';
    for (const [name, plugin] of plugins) {
      yield `${comma}${JSON.stringify(define(plugin, name))}`;
      comma = ',';
    }
  }
  return {
    get tools() {
      return Array.from(plugins, ([name, plugin]) => define(plugin, name));
    },
    isEmpty: plugins.size === 0,
    listed: () => {
      const names = createHash('sha256')
        .update([...plugins.keys()].join('\n'))
        .digest('base64url');
      return lists.get(`${of} ${names}`, pieces);
    },
    findPlugin: (name) => plugins.get(name),
    plugins,
    define: (name, plugin) => define(plugin, name),
    pick: (names) => createToolbox(new Map([...plugins].filter(([name]) => names.has(name))), deps),
  };
}

/** Defines a tool in the catalogue's format `mcp` and adds the plugin's id. */
function defineTool(plugin: CompiledPlugin, catalogue: Pick<Catalogue, 'describePlugin'>): Tool {
  const { manifest, id, callsOut } = plugin.bundle;
  const record = catalogue.describePlugin(plugin, 'en');
  const { definition } = mcp({ plugin: record, reachesOut: callsOut });
  const origin = { bundle_id: id, plugin_id: plugin.id, version: manifest.version };
  // The format creates exactly the members of a tool, but its type covers all formats.
  return { ...(definition as unknown as Tool), _meta: { [metaKeys.plugin]: origin } };
}

import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import type { Catalogue, CompiledPlugin } from '../catalogue/catalogue.ts';
import { mcp } from '../catalogue/function-formats/mcp.ts';
import type { Logger } from '../kernel/logger.ts';
import { metaKeys } from './meta-keys.ts';

/** The tools of one endpoint, made once. */
export interface Toolbox {
  /** In the order of the catalogue: by bundle id, then plugin id. */
  readonly tools: readonly Tool[];
  /** All of them as JSON, without the brackets around them; made once. */
  readonly listed: () => Buffer;
  findPlugin(name: string): CompiledPlugin | undefined;
}

/** The toolboxes of one catalogue. */
export interface Toolboxes {
  /** Every plugin, under names that are unique among all bundles. */
  readonly all: Toolbox;
  /** The plugins of one bundle, under their own ids. */
  readonly ofBundle: ReadonlyMap<string, Toolbox>;
}

type Describing = Pick<Catalogue, 'bundles' | 'describePlugin'>;

/** Makes the toolboxes of one catalogue after the other; a tool whose plugin is the same is made once. */
export function createToolboxMaker(logger: Pick<Logger, 'error'>): (catalogue: Describing) => Toolboxes {
  const made = new WeakMap<CompiledPlugin, Tool>();
  return (catalogue) =>
    createToolboxes(catalogue, logger, (plugin) => {
      const tool = made.get(plugin) ?? defineTool(plugin, catalogue);
      made.set(plugin, tool);
      return tool;
    });
}

/** A plugin whose name another has already is left out, with a line in the log: never the one for the other. */
export function createToolboxes(
  catalogue: Describing,
  logger: Pick<Logger, 'error'>,
  define = (plugin: CompiledPlugin): Tool => defineTool(plugin, catalogue),
): Toolboxes {
  const all = createCollector(logger);
  const ofBundle = new Map<string, Toolbox>();
  for (const bundle of catalogue.bundles.values()) {
    const own = createCollector(logger);
    for (const plugin of bundle.plugins.values()) {
      const tool = define(plugin);
      all.add(tool, plugin);
      own.add({ ...tool, name: shortName(plugin.id) }, plugin);
    }
    ofBundle.set(bundle.id, own.toolbox());
  }
  return { all: all.toolbox(), ofBundle };
}

/** As the format `mcp` of the catalogue says it, and which plugin it is. */
function defineTool(plugin: CompiledPlugin, catalogue: Pick<Catalogue, 'describePlugin'>): Tool {
  const { manifest, id, callsOut } = plugin.bundle;
  const record = catalogue.describePlugin(plugin, 'en');
  const { definition } = mcp({ plugin: record, reachesOut: callsOut });
  const origin = { bundle_id: id, plugin_id: plugin.id, version: manifest.version };
  // The format makes exactly the members of a tool; its type is that of every format.
  return { ...(definition as unknown as Tool), _meta: { [metaKeys.plugin]: origin } };
}

/** Cursor counts 60 characters, the providers of models 64. */
const maxNameLength = 60;

/** The name of a plugin among those of its bundle: its id, shortened with a hash when clients find it too long. */
function shortName(pluginId: string): string {
  if (pluginId.length <= maxNameLength) return pluginId;
  const hash = createHash('sha256').update(pluginId).digest('hex').slice(0, 10);
  return `${pluginId.slice(0, maxNameLength - hash.length - 1)}_${hash}`;
}

function createCollector(logger: Pick<Logger, 'error'>) {
  const tools: Tool[] = [];
  const plugins = new Map<string, CompiledPlugin>();
  return {
    add(tool: Tool, plugin: CompiledPlugin): void {
      const other = plugins.get(tool.name);
      if (other !== undefined) {
        const [first, second] = [other, plugin].map(({ bundle, id }) => `${bundle.id}/${id}`);
        logger.error({ tool: tool.name, first, second }, 'two plugins have the same tool name; the second is left out');
        return;
      }
      plugins.set(tool.name, plugin);
      tools.push(tool);
    },
    toolbox: (): Toolbox => {
      let listed: Buffer | undefined;
      return {
        tools,
        listed: () => {
          listed ??= Buffer.from(JSON.stringify(tools).slice(1, -1));
          return listed;
        },
        findPlugin: (name) => plugins.get(name),
      };
    },
  };
}

import { fieldInvalid, quote } from '../../../platform/validation/validation-error.ts';
import { bundleNotFound } from '../../catalogue/problems.ts';
import { emptyToolbox, type Toolbox, type Toolboxes } from '../toolbox.ts';
import { type Choice, namesAny } from './choice.ts';

/** Sets of bundles and tools that the operator names, by the name of the set. */
export type Toolsets = ReadonlyMap<string, readonly string[]>;

/** The tools that a client may call at one URL, and how they are listed. */
export interface ChosenTools {
  readonly toolbox: Toolbox;
  /**
   * `ready`: those that can work now, or the search tools if these are too large. `chosen`: all, or the search tools if there are
   * too many. `full`: all.
   */
  readonly listing: 'ready' | 'chosen' | 'full';
}

/** No plugins, for callers and endpoints without them. */
export const noTools: ChosenTools = { toolbox: emptyToolbox, listing: 'full' };

export interface ChoiceOfTools {
  readonly choice: Choice;
  readonly toolsets: Toolsets;
  /** Whether the key of the caller names its tools. They are listed like those of a bundle. Default: false. */
  readonly isLimited?: boolean;
}

/**
 * Finds the tools of an endpoint.
 * @param bundleId the bundle of `/mcp/{bundle_id}`; undefined for `/mcp`
 * @throws Problem when the bundle, or a name of the choice, is unknown
 */
export function chooseTools(
  toolboxes: Toolboxes,
  bundleId: string | undefined,
  { choice, toolsets, isLimited = false }: ChoiceOfTools,
): ChosenTools {
  const toolbox = bundleId === undefined ? toolboxes.all : toolboxes.ofBundle.get(bundleId);
  if (toolbox === undefined) throw bundleNotFound(bundleId ?? '');
  if (bundleId !== undefined) checkOwn(choice);
  const { isFull } = choice;
  const isChosen = bundleId !== undefined || isLimited;
  if (!namesAny(choice)) return { toolbox, listing: isFull ? 'full' : isChosen ? 'chosen' : 'ready' };
  const { bundles, tools } = namesOf(toolboxes, toolbox, { choice, toolsets });
  const names = [...toolbox.plugins].filter(([name, { bundle }]) => bundles.has(bundle.id) || tools.has(name));
  const isNamed = bundles.size === 0;
  return {
    toolbox: toolbox.pick(new Set(names.map(([name]) => name))),
    listing: isFull || isNamed ? 'full' : 'chosen',
  };
}

/** The endpoint of one bundle has its own tools only. */
function checkOwn({ bundles, toolsets }: Choice): void {
  if (bundles.length > 0) throw fieldInvalid('query/bundles', 'a name', 'absent at the endpoint of one bundle');
  if (toolsets.length > 0) throw fieldInvalid('query/toolset', 'a name', 'absent at the endpoint of one bundle');
}

interface Names {
  readonly bundles: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
}

function namesOf(
  { ofBundle }: Toolboxes,
  toolbox: Toolbox,
  { choice, toolsets }: { readonly choice: Choice; readonly toolsets: Toolsets },
): Names {
  for (const id of choice.bundles) {
    if (!ofBundle.has(id)) throw fieldInvalid('query/bundles', quote(id), 'ids of installed bundles');
  }
  for (const name of choice.tools) {
    if (toolbox.findPlugin(name) === undefined) {
      throw fieldInvalid(
        'query/tools',
        quote(name),
        '"all" or names of tools of plugins; the tools for documents are always listed',
      );
    }
  }
  // A set may name bundles that are not installed yet.
  const members = choice.toolsets.flatMap((name) => {
    const found = toolsets.get(name);
    if (found === undefined) throw fieldInvalid('query/toolset', quote(name), 'a set in QUARTERMASTER_MCP_TOOLSETS');
    return found;
  });
  return {
    bundles: new Set([...choice.bundles, ...members.filter((name) => ofBundle.has(name))]),
    tools: new Set([...choice.tools, ...members]),
  };
}

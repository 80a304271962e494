import { createHash } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/server';
import { once } from '../../../platform/concurrency/once.ts';
import type { CachedJson } from '../../../platform/json/json-cache.ts';
import type { CompiledPlugin } from '../../catalogue/catalogue.ts';
import { emptyToolbox, type Toolbox } from '../toolbox.ts';
import { type AvailabilityRequest, type FindProfiles, openAvailability } from './availability.ts';
import type { ChosenTools } from './chosen-tools.ts';
import type { SearchToolCall, SearchTools } from './search-tools.ts';
import { isSearchTool, searchToolDefinitions } from './tool-definitions.ts';

/** The bytes of JSON that count as one token. */
const bytesPerToken = 4;

export interface OffersDeps {
  readonly searchTools: SearchTools;
  readonly findProfiles: FindProfiles;
  /** The maximum number of tokens of the tools that an endpoint without a choice lists. */
  readonly listTokens: number;
}

/** The tools of one request. */
export interface ToolOffer {
  /** Whether the search tools can be called. */
  readonly hasSearch: boolean;
  /**
   * Opens a page of the list.
   * @returns the tools that the list contains in their own right, and whether those of `listed` follow
   * @throws ProtocolError when the cursor is not one of the list
   */
  openPage(cursor: string | undefined): Promise<ToolPage>;
  /** Returns the tools of the page that was opened last, as JSON without brackets. */
  listed(): Promise<CachedJson>;
  findPlugin(name: string): CompiledPlugin | undefined;
  /** Opens a call of a search tool; undefined when the name is not one of them here. */
  openSearchTool(name: string, sent: Readonly<Record<string, unknown>>): Promise<SearchToolCall> | undefined;
}

export interface ToolPage {
  readonly own: readonly Tool[];
  readonly hasListed: boolean;
  readonly nextCursor: string | undefined;
}

export function createToolOffer(
  { toolbox, listing }: ChosenTools,
  request: AvailabilityRequest,
  { searchTools, findProfiles, listTokens }: OffersDeps,
): ToolOffer {
  const findObstacle = once(() => openAvailability(request, findProfiles));
  const isTooLong = listing === 'chosen' && toolbox.plugins.size > maxListedTools;
  const hasSearch = !toolbox.isEmpty && (listing === 'ready' || isTooLong);
  let page = emptyToolbox;

  /** The tools to list; null when the search tools take their place. */
  async function toolsToList(): Promise<Toolbox | null> {
    if (isTooLong) return null;
    if (listing !== 'ready') return toolbox;
    const obstacleOf = await findObstacle();
    const names: string[] = [];
    let room = listTokens * bytesPerToken;
    for (const [name, plugin] of toolbox.plugins) {
      if (obstacleOf(plugin) !== null) continue;
      names.push(name);
      room -= sizeOf(toolbox, name, plugin);
      if (room < 0) return null;
    }
    return toolbox.pick(new Set(names));
  }

  return {
    hasSearch,
    async openPage(cursor) {
      const tools = await toolsToList();
      const cut = cutPage([...(tools?.plugins.keys() ?? [])], cursor);
      if (cut === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor.');
      page = tools?.pick(new Set(cut.names)) ?? emptyToolbox;
      const own = tools === null ? searchToolDefinitions : [];
      return { own, hasListed: !page.isEmpty, nextCursor: cut.next };
    },
    listed: () => page.listed(),
    findPlugin: toolbox.findPlugin,
    openSearchTool: (name, sent) =>
      hasSearch && isSearchTool(name) ? searchTools.open(name, sent, { toolbox, findObstacle }) : undefined,
  };
}

const sizes = new WeakMap<CompiledPlugin, number>();

/** The bytes of a definition. Both names of a plugin have about the same length. */
function sizeOf(toolbox: Toolbox, name: string, plugin: CompiledPlugin): number {
  const size = sizes.get(plugin) ?? Buffer.byteLength(JSON.stringify(toolbox.define(name, plugin)));
  sizes.set(plugin, size);
  return size;
}

/** The maximum number of tools of a chosen bundle or toolset that are listed. Models choose badly among more. */
export const maxListedTools = 100;
/** The maximum number of tools of one page of `tools/list`. Some clients read only the first page. */
export const toolsPerPage = 200;

/** A page of the names of a list. */
interface NamePage {
  readonly names: readonly string[];
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

/**
 * Cuts a page. A cursor is a position and a digest of the list, so that it is unknown once the list has changed.
 * @returns undefined when the cursor is not one of this list
 */
export function cutPage(names: readonly string[], cursor: string | undefined): NamePage | undefined {
  const isShort = names.length <= toolsPerPage;
  if (isShort) return cursor === undefined ? { names, next: undefined } : undefined;
  const digest = createHash('sha256').update(names.join('\n')).digest('base64url').slice(0, 12);
  const start = cursor === undefined ? 0 : positionOf(cursor, digest);
  if (start === undefined || start >= names.length) return undefined;
  const end = start + toolsPerPage;
  return { names: names.slice(start, end), next: end < names.length ? `${digest}.${end}` : undefined };
}

function positionOf(cursor: string, digest: string): number | undefined {
  const [, sent, digits] = /^([\w-]{12})\.(\d{1,9})$/.exec(cursor) ?? [];
  const position = Number(digits);
  return sent === digest && position > 0 && position % toolsPerPage === 0 ? position : undefined;
}

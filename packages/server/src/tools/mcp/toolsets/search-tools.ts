import { createHash } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Static, TSchema } from 'typebox';
import { Problem } from '../../../platform/problem.ts';
import { quoteText } from '../../../platform/quote-text.ts';
import { wordsOf } from '../../../stores/search/short-texts/short-text-index.ts';
import type { CompiledPlugin } from '../../catalogue/catalogue.ts';
import type { PluginSearch } from '../../catalogue/plugin-search.ts';
import { resultOfProblem } from '../call-result.ts';
import { ignoredArguments } from '../ignored-arguments.ts';
import { cursorUnknown } from '../problems.ts';
import type { Toolbox } from '../toolbox.ts';
import type { FindObstacle } from './availability.ts';
import { CallArguments, ToolSearchArguments, toolSearchLimits } from './search-arguments.ts';
import { callReadToolName, callToolName, searchToolsName } from './tool-definitions.ts';

type Arguments = Readonly<Record<string, unknown>>;

export interface SearchToolsDeps {
  readonly search: PluginSearch;
  /**
   * Checks arguments against a schema.
   * @throws Problem REQUEST_VALIDATION_ERROR; its paths begin with `arguments`
   */
  readonly check: <Schema extends TSchema>(schema: Schema, sent: Arguments) => Static<Schema>;
  /** Counts a search by outcome: `found`, `nothing`, or the code of the error in lower case. */
  readonly countSearch: (outcome: string) => void;
}

/** The call of a search tool: its answer, or the tool to call with its input. */
export type SearchToolCall =
  | { readonly kind: 'answered'; readonly result: CallToolResult }
  | { readonly kind: 'call'; readonly plugin: CompiledPlugin; readonly input: Record<string, unknown> };

/** The tools of one caller, and why some cannot work now. */
export interface Searched {
  readonly toolbox: Toolbox;
  readonly findObstacle: () => Promise<FindObstacle>;
}

/** Answers `search_tools`, and finds the tool for the two tools that call others. */
export interface SearchTools {
  /** Every refusal is a result that the model can read; only a defect throws. */
  open(name: string, sent: Arguments, searched: Searched): Promise<SearchToolCall>;
}

export function createSearchTools({ search, check, countSearch }: SearchToolsDeps): SearchTools {
  async function find(sent: Arguments, { toolbox, findObstacle }: Searched): Promise<object> {
    const { query, limit = 5, cursor } = check(ToolSearchArguments, sent);
    const offset = cursor === undefined ? 0 : readCursor(cursor, query);
    const names = new Map([...toolbox.plugins].map(([name, plugin]) => [plugin, name]));
    const named = toolbox.findPlugin(query.trim());
    const obstacleOf = await findObstacle();
    const ranked = new Set([
      ...(named === undefined ? [] : [named]),
      ...(await search.find(query, weightFor(query, obstacleOf))),
    ]);
    const found = [...ranked].filter((plugin) => names.has(plugin)).slice(0, toolSearchLimits.ranked);
    const page = found.slice(offset, offset + limit).map((plugin) => ({ plugin, name: names.get(plugin) ?? '' }));
    countSearch(page.length === 0 ? 'nothing' : 'found');
    const tools = describe(page, toolbox, obstacleOf);
    const next = offset + limit;
    return {
      tools,
      total: found.length,
      ...(next < found.length ? { next_cursor: `${next}.${digestOf(query)}` } : {}),
    };
  }

  async function open(name: string, sent: Arguments, searched: Searched): Promise<SearchToolCall> {
    if (name === searchToolsName) return answered(await find(sent, searched), sent);
    const { name: tool, arguments: input = {} } = check(CallArguments, sent);
    const plugin = searched.toolbox.findPlugin(tool);
    if (plugin === undefined) throw toolUnknown(tool);
    if (name === callReadToolName && plugin.manifest.effects !== 'read') throw readToolRefused(tool, callToolName);
    return { kind: 'call', plugin, input };
  }

  return {
    async open(name, sent, searched) {
      // Some models send null for an argument that they leave out.
      const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
      try {
        return await open(name, given, searched);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (name === searchToolsName) countSearch(error.code.toLowerCase());
        return { kind: 'answered', result: resultOfProblem(error, null) };
      }
    },
  };
}

function answered(answer: object, sent: Arguments): SearchToolCall {
  const content = [{ type: 'text' as const, text: JSON.stringify(answer) }];
  const ignored = ignoredArguments(sent, ToolSearchArguments.properties);
  return { kind: 'answered', result: { content, structuredContent: { ...answer }, ...ignored } };
}

/**
 * A tool that cannot run now stands above one that can only if its score is twice as high. A question that names a service is
 * about it: there the factor is 2.5 between two bundles for this service, and 1.25 to other services.
 */
const weights = { runs: 1, isBlocked: 0.5, named: { runs: 2, isBlocked: 0.8 } } as const;

/** Returns the weight of a tool for a question. */
function weightFor(question: string, obstacleOf: FindObstacle) {
  const words = new Set(wordsOf(question));
  return (plugin: CompiledPlugin): number => {
    const { name } = plugin.bundle.manifest;
    const own = wordsOf(typeof name === 'string' ? name : name.en);
    const { runs, isBlocked } = own.length > 0 && own.every((word) => words.has(word)) ? weights.named : weights;
    return obstacleOf(plugin) === null ? runs : isBlocked;
  };
}

/** The characters of the schemas of one answer, about 4,000 tokens. The first tool always has its schema. */
const maxSchemaCharacters = 16_000;

interface FoundTool {
  readonly plugin: CompiledPlugin;
  readonly name: string;
}

function describe(found: readonly FoundTool[], toolbox: Toolbox, findObstacle: FindObstacle): object[] {
  let room = maxSchemaCharacters;
  return found.map(({ plugin, name }, index) => {
    const { title, description, inputSchema, annotations } = toolbox.define(name, plugin);
    const size = JSON.stringify(inputSchema).length;
    const hasSchema = index === 0 || size <= room;
    if (hasSchema) room -= size;
    const reason = findObstacle(plugin);
    const { readOnlyHint, destructiveHint } = annotations ?? {};
    return {
      name,
      title,
      description,
      ...(hasSchema ? { inputSchema } : {}),
      annotations: { readOnlyHint, destructiveHint },
      available: reason === null,
      ...(reason === null ? {} : { reason }),
    };
  });
}

/** Ties a cursor to its question, so that it cannot continue another one. */
function digestOf(query: string): string {
  return createHash('sha256').update(query).digest('base64url').slice(0, 16);
}

function readCursor(cursor: string, query: string): number {
  const [, digits, digest] = /^(\d{1,3})\.([\w-]{16})$/.exec(cursor) ?? [];
  if (digits === undefined || digest !== digestOf(query)) throw cursorUnknown();
  return Number(digits);
}

/** A tool that calls other tools named one that the endpoint does not have. */
function toolUnknown(name: string): Problem {
  return new Problem('OBJECT_NOT_FOUND', `Unknown tool: ${quoteText(name)}. Find the name with search_tools.`);
}

/** A tool that changes something cannot be called through the tool for reading. */
function readToolRefused(name: string, instead: string): Problem {
  return new Problem(
    'INVALID_REQUEST',
    `The tool ${quoteText(name)} may change something, so it cannot run as a tool that only reads. Call it with ${instead}.`,
  );
}

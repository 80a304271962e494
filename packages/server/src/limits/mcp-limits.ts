import { maxTextCharacters } from '../mcp/call-result.ts';
import { mediaLimits } from '../mcp/result-contents.ts';
import { maxChosenNames } from '../mcp/toolsets/choice.ts';
import { maxListedTools, toolsPerPage } from '../mcp/toolsets/page.ts';
import { toolSearchLimits } from '../mcp/toolsets/search-arguments.ts';
import { type Limit, refused } from './limit.ts';

/** Limits of the MCP endpoints, which belong to those of the plugins address. */
export const mcpLimits = {
  mcp_chosen_names: {
    bounds: 'names of bundles, tools and toolsets in the URL of an MCP endpoint',
    unit: 'items',
    value: () => maxChosenNames,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  mcp_chosen_tools: {
    bounds: 'tools of a chosen bundle or toolset in `tools/list`',
    unit: 'items',
    value: () => maxListedTools,
    above: 'The list has the tools that search for the others.',
  },
  mcp_tools_of_page: {
    bounds: 'plugins of one page of `tools/list`',
    unit: 'items',
    value: () => toolsPerPage,
    above: 'The answer has a `nextCursor`.',
  },
  tool_search_query_characters: {
    bounds: '`query` of the MCP tool `search_tools`',
    unit: 'characters',
    value: () => toolSearchLimits.query,
    above: 'The tool call fails with `REQUEST_VALIDATION_ERROR`.',
  },
  tool_search_results: {
    bounds: 'tools of one answer of the MCP tool `search_tools`',
    unit: 'items',
    value: () => toolSearchLimits.results,
    above: 'The tool call fails with `REQUEST_VALIDATION_ERROR`.',
  },
  tool_search_ranked: {
    bounds: 'tools of all answers of `search_tools` to one question',
    unit: 'items',
    value: () => toolSearchLimits.ranked,
    above: 'The last answer has no `next_cursor`.',
  },
  mcp_result_text_characters: {
    bounds: 'the JSON text of an output over MCP that is structured content too',
    unit: 'characters',
    value: () => maxTextCharacters,
    above: 'The text is cut, with a note. The structured content is complete.',
  },
  mcp_result_media: {
    bounds: 'pictures and sounds in one result over MCP, and embedded resources of an imported server',
    unit: 'items',
    value: () => mediaLimits.blocks,
    above: 'Stored media have a link. A note counts what an imported server returned beside its output.',
  },
  mcp_result_media_bytes: {
    bounds: 'these pictures, sounds and resources together, before base64',
    unit: 'bytes',
    value: () => mediaLimits.bytes,
    above: 'Stored media have a link. A note counts what an imported server returned beside its output.',
  },
  mcp_result_links: {
    bounds: 'links of an imported server in one result over MCP',
    unit: 'items',
    value: () => mediaLimits.links,
    above: 'The result leaves them out. A note counts those beside a structured output.',
  },
} as const satisfies Record<string, Limit>;

import type { Tool } from '@modelcontextprotocol/server';
import { CallArguments, ToolSearchArguments } from './search-arguments.ts';

export const searchToolsName = 'search_tools';
export const callReadToolName = 'call_read_tool';
export const callToolName = 'call_tool';

/** The tools that replace all others when there are too many to list, in their order. All texts are constant. */
export const searchToolDefinitions: readonly Tool[] = [
  {
    name: searchToolsName,
    title: 'Search tools',
    description:
      'Finds tools by what they do and returns the best, best first, each with its name, its description and the JSON Schema of its input. ' +
      'This server has many tools that are not listed: search here before you say that something is impossible. Ask with one action at a ' +
      'time, and again with other words when nothing fits. A tool with available: false cannot work now; its reason says why. When ' +
      'inputSchema is missing, search for the exact name.',
    inputSchema: plain(ToolSearchArguments),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: callReadToolName,
    title: 'Call a tool that only reads',
    description:
      'Calls a tool whose annotations have readOnlyHint: true, by the name that search_tools returned. The result is that of the tool.',
    inputSchema: plain(CallArguments),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  },
  {
    name: callToolName,
    title: 'Call a tool',
    description:
      'Calls any tool by the name that search_tools returned, also one that changes or deletes something. Prefer call_read_tool for ' +
      'tools that only read. The result is that of the tool.',
    inputSchema: plain(CallArguments),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
];

const names = new Set(searchToolDefinitions.map(({ name }) => name));

export function isSearchTool(name: string): boolean {
  return names.has(name);
}

/** A schema without the hidden members of TypeBox. */
function plain(schema: object): Tool['inputSchema'] {
  return JSON.parse(JSON.stringify(schema));
}

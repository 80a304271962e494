import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJson, type McpChoices, type McpSnapshot, type ToolDefinition } from '@quartermaster/importers/mcp';
import { digestOf } from '@quartermaster/server/authoring';

/** The imported definitions and choices, stored with the bundle. The next import is compared with them. */
export interface StoredSnapshot {
  readonly choices: McpChoices;
  readonly tools: readonly ToolDefinition[];
}

export const snapshotName = 'mcp-snapshot.json';
const format = 'quartermaster-mcp-snapshot/1';

export function writeSnapshot({ url, server, tools }: McpSnapshot, choices: McpChoices): string {
  const listed = tools.map((tool) => ({ sha256: digestOf(tool), ...tool }));
  return `${JSON.stringify({ format, url, server, choices, tools: listed }, null, 2)}\n`;
}

/** null when nothing was imported into the folder yet. @throws Error when the file is not a snapshot */
export async function readSnapshot(folder: string): Promise<StoredSnapshot | null> {
  const file = join(folder, snapshotName);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  const { format: found, choices, tools } = Object(value);
  if (found !== format || !isJson(choices) || !Array.isArray(tools))
    throw new Error(`${file} is not a snapshot of an import. Remove it and import the server again.`);
  // The import wrote the file, and a person reviewed it.
  const definitions = tools.map(({ sha256: _, ...tool }) => tool as ToolDefinition);
  return { choices, tools: definitions };
}

/** Compares two lists of tools. Returns one line for each change. */
export function compareTools(before: readonly ToolDefinition[], now: readonly ToolDefinition[]): string[] {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const fresh = new Map(now.map((tool) => [tool.name, tool]));
  const lines = [...old.keys()].filter((name) => !fresh.has(name)).map((name) => `- ${quoted(name)}: is gone`);
  for (const [name, tool] of fresh) {
    const known = old.get(name);
    if (known === undefined) lines.push(`+ ${quoted(name)}: ${quoted(tool.description ?? '')}`);
    else for (const line of differences(known, tool, '')) lines.push(`~ ${quoted(name)}${line}`);
  }
  return lines;
}

function differences(before: unknown, now: unknown, path: string): string[] {
  if (isJson(before) && isJson(now)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return names.flatMap((name) => differences(before[name], now[name], `${path}/${name}`));
  }
  const [was, is] = [quoted(before), quoted(now)];
  return was === is ? [] : [` ${path}: ${was} → ${is}`];
}

/** Escapes text of the server, so that it cannot control the terminal. */
function quoted(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

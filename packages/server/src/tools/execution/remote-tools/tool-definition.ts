import { createHash } from 'node:crypto';
import type { ToolDefinition } from '@quartermaster/importers/mcp-server';
import { isJsonObject } from '../../../platform/json/json-object.ts';

/** Reads a definition and keeps only the members that identify and describe a tool. null when the value is not a definition. */
export function readToolDefinition(value: unknown): ToolDefinition | null {
  const { name, title, description, inputSchema, outputSchema, annotations, execution } = Object(value);
  if (typeof name !== 'string' || name === '' || !isJsonObject(inputSchema)) return null;
  return {
    name,
    inputSchema,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
    ...(isJsonObject(annotations) ? { annotations } : {}),
    ...(isJsonObject(execution) ? { execution } : {}),
  };
}

/** The digest of a definition. The order of members does not change it. */
export function digestOf(definition: ToolDefinition): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(definition)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

import { createHash } from 'node:crypto';
import { isJsonObject } from '../../kernel/json/json-object.ts';

/** A tool as an MCP server describes it. What a server says of itself is a claim, not a fact. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** Whether it wants to be run as a task. */
  readonly execution?: Readonly<Record<string, unknown>>;
}

/** Null for what is no tool. Only what decides what a tool is and how it is chosen is kept. */
export function readToolDefinition(value: unknown): ToolDefinition | null {
  const { name, title, description, inputSchema, outputSchema, annotations, execution } = Object(value);
  if (typeof name !== 'string' || name === '' || !isJsonObject(inputSchema)) return null;
  return {
    ...{ name, inputSchema },
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
    ...(isJsonObject(annotations) ? { annotations } : {}),
    ...(isJsonObject(execution) ? { execution } : {}),
  };
}

/** The same definition gives the same digest, in whatever order its members come. */
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

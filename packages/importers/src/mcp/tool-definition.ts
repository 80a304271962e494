import type { Injection } from '@quartermaster/plugin-kit';
import type { Json } from '../openapi/document.ts';

/** A tool as an MCP server describes it. The description is untrusted. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
  /** Whether the tool requires to run as a task. */
  readonly execution?: Json;
}

export interface McpServerFacts {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  /** The capabilities that the server declares: `tools`, `prompts`, … */
  readonly capabilities: readonly string[];
}

/** The description of an MCP server and its tools at one moment. */
export interface McpSnapshot {
  readonly url: string;
  readonly server: McpServerFacts;
  /** In the order of the server. */
  readonly tools: readonly ToolDefinition[];
}

/** What an MCP server requires of its callers. */
export interface McpAccess {
  readonly properties: Readonly<Record<string, Json>>;
  readonly inject: readonly Injection[];
}

/**
 * @param bearer the name of the credential that is sent as bearer token
 * @param headers the names of credentials by header
 */
export function accessOf(bearer: string | undefined, headers: Readonly<Record<string, string>> = {}): McpAccess {
  const inject: Injection[] = Object.entries(headers).map(([name, credential]) => ({ in: 'header', name, credential }));
  if (bearer !== undefined) inject.unshift({ in: 'bearer', credential: bearer });
  const names = [...(bearer === undefined ? [] : [bearer]), ...Object.values(headers)];
  const description = 'Credential that the MCP server requires.';
  const property = { type: 'string', minLength: 1, description, 'x-secret': true };
  return { inject, properties: Object.fromEntries(names.map((name) => [name, property])) };
}

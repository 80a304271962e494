import type { BundleManifest } from '@quartermaster/plugin-kit';
import { isJson, type Json, memberOf, type SchemaChecks, textOf } from '../openapi/document.ts';
import type { ImportedBundle } from '../openapi/import-openapi.ts';
import { freePluginId, humanised, snakeCase } from '../openapi/names.ts';
import type { McpAccess, McpSnapshot, ToolDefinition } from './tool-definition.ts';
import { convertRoot } from './tool-schema.ts';

export {
  accessOf,
  type McpAccess,
  type McpServerFacts,
  type McpSnapshot,
  type ToolDefinition,
} from './tool-definition.ts';
export { isJson };

/** The user's choices for an import. They are stored with the bundle, so that the next import repeats them. */
export interface McpChoices {
  readonly id?: string | undefined;
  /** The tools to import, by tool name or plugin id. */
  readonly operations?: readonly string[];
  /** Plugin ids by tool name. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Descriptions that replace those of the server, by tool name or plugin id. */
  readonly describe?: Readonly<Record<string, string | Json>>;
}

export interface McpChecks extends SchemaChecks {
  digestOf(tool: ToolDefinition): string;
}

export interface McpImport {
  readonly choices: McpChoices;
  readonly access: McpAccess;
  readonly checks: McpChecks;
}

/** Converts the tools of an MCP server to a bundle of declarative plugins. The report lists every tool that was not imported. */
export function importMcp(snapshot: McpSnapshot, { choices, access, checks }: McpImport): ImportedBundle {
  const plugins = new Map<string, Json>();
  const imported: Array<ImportedBundle['report']['imported'][number]> = [];
  const skipped: Array<ImportedBundle['report']['skipped'][number]> = [];
  for (const tool of snapshot.tools) {
    const pluginId = snakeCase(tool.name);
    const reason = refusalOf(tool, pluginId, choices);
    if (reason !== null) skipped.push({ operation: tool.name, reason });
    else {
      const id = freePluginId(textOf(memberOf(choices.rename, tool.name)) || pluginId, plugins);
      const { plugin, notes } = importTool(tool, { url: snapshot.url, texts: textsOf(tool, id, choices), checks });
      plugins.set(id, { id, ...plugin });
      imported.push({ operation: tool.name, plugin_id: id, notes });
    }
  }
  if (plugins.size === 0) throw new Error(`No tool can be imported: ${skipped[0]?.reason ?? 'the server has none'}.`);
  const { server, tools } = snapshot;
  const others = server.capabilities.filter((name) => ['prompts', 'resources', 'completions', 'tasks'].includes(name));
  return {
    bundle: bundleOf(snapshot, choices, access),
    plugins,
    report: {
      title: server.name,
      openapi: 'MCP',
      operations: tools.length,
      imported,
      skipped,
      notes: others.map((name) => `The server also offers ${name}, which plugins do not support.`),
    },
  };
}

function refusalOf({ name, execution }: ToolDefinition, pluginId: string, { operations }: McpChoices): string | null {
  if (operations !== undefined && !operations.includes(name) && !operations.includes(pluginId)) return 'not chosen';
  return execution?.taskSupport === 'required' ? 'it runs only as a task, which plugins do not support' : null;
}

function bundleOf({ url, server }: McpSnapshot, choices: McpChoices, { properties, inject }: McpAccess) {
  const { host, hostname } = new URL(url);
  const names = Object.keys(properties);
  return {
    id: choices.id ?? `mcp_${snakeCase(server.name || hostname)}`.slice(0, 64),
    version: versionOf(server.version),
    name: server.name.slice(0, 120) || hostname,
    description: (server.instructions || `Tools of the MCP server ${server.name || hostname}.`).slice(0, 4_000),
    provider: hostname,
    developer: 'Imported from MCP',
    hosts: [host],
    ...(names.length === 0 ? {} : { credentials_schema: { type: 'object', required: names, properties } }),
    ...(inject.length === 0 ? {} : { inject: [...inject], verify: verification(url) }),
  } satisfies Omit<BundleManifest, 'credentials_schema' | 'verify'> & { credentials_schema?: object; verify?: object };
}

/** The verification call is `initialize`, which a server with credentials refuses without them. */
function verification(url: string): object {
  const clientInfo = { name: 'quartermaster', version: '1.0.0' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const request = {
    method: 'POST',
    url,
    headers: { Accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'initialize', params },
  };
  return { request, response: { format: 'text', credentials_rejected: [401, 403] } };
}

function importTool(tool: ToolDefinition, { url, texts, checks }: { url: string; texts: Json; checks: McpChecks }) {
  const notes: string[] = [];
  const input = convertRoot(tool.inputSchema, 'input', checks);
  const output =
    tool.outputSchema === undefined
      ? { schema: anyResult, notes: [] }
      : convertRoot(tool.outputSchema, 'output', checks);
  notes.push(...input.notes, ...output.notes);
  const annotations = tool.annotations ?? {};
  const isRead = annotations.readOnlyHint === true;
  if (annotations.readOnlyHint === undefined && annotations.destructiveHint === undefined) {
    notes.push(
      'The server does not state the effects of the tool, so they are set to "destructive", the default of MCP.',
    );
  }
  const plugin = {
    name: (textOf(tool.title) || textOf(annotations.title) || humanised(tool.name)).slice(0, 120),
    description: (textOf(tool.description) || humanised(tool.name)).slice(0, 4_000),
    ...texts,
    effects: isRead ? 'read' : annotations.destructiveHint === false ? 'write' : 'destructive',
    idempotent: isRead || annotations.idempotentHint === true,
    input_schema: input.schema,
    output_schema: output.schema,
    mcp: { url, tool: tool.name, sha256: checks.digestOf(tool) },
  };
  return { plugin, notes };
}

/** The output schema of tools that declare none. */
const anyResult: Json = {
  type: 'object',
  required: ['text', 'content'],
  properties: {
    text: { type: 'string', description: 'Text of the result.' },
    content: {
      type: 'array',
      description: 'Content of the result besides text, such as images, audio and resources, in the format of MCP.',
      items: { type: 'object' },
    },
  },
};

function textsOf({ name }: ToolDefinition, id: string, { describe }: McpChoices): Json {
  const chosen = memberOf(describe, name) ?? memberOf(describe, id);
  if (typeof chosen === 'string') return { description: chosen };
  if (!isJson(chosen)) return {};
  const known = Object.entries(chosen).filter(([member]) => member === 'name' || member === 'description');
  return Object.fromEntries(known);
}

function versionOf(text: string): string {
  const [, major = '1', minor = '0', patch = '0'] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? [];
  return `${Number(major)}.${Number(minor)}.${Number(patch)}`;
}

import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { RunCaller } from '../execution/run-observer.ts';
import type { Logger } from '../kernel/log/logger.ts';
import type { CallTool, ToolCall } from './call-tool.ts';
import { allTools } from './insert-tools.ts';
import type { Toolbox } from './toolbox.ts';

export interface ProtocolServerDeps {
  readonly version: string;
  readonly callTool: CallTool;
  readonly logger: Logger;
}

export interface ProtocolServerOptions extends ProtocolServerDeps {
  /** Whether clients can subscribe to changes without a session, as this revision allows. */
  readonly tellsChanges: boolean;
}

/** The instructions that every client receives when it connects. */
const instructions =
  'Each tool is a plugin of Quartermaster, run on its server. A failed call is a result with isError; read its text.';

/** The list changes when bundles are installed. Clients that do not subscribe to changes may cache it for five minutes. */
const listHint = { ttlMs: 300_000, cacheScope: 'private' } as const;

const cacheHints = { 'tools/list': listHint, 'server/discover': listHint };
/** The SDK validates answers to elicitation, which this server does not use. The SDK's default would load AJV. */
const jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'nothing is asked for' }),
};

/** @throws ProtocolError when the service itself fails */
async function runTool({ callTool, logger }: ProtocolServerDeps, call: ToolCall): Promise<CallToolResult> {
  try {
    return await callTool(call);
  } catch (error) {
    const { bundle, id } = call.plugin;
    if (!call.signal.aborted) logger.error({ err: error, tool: `${bundle.id}/${id}` }, 'tool call failed');
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The service failed; its log has the reason.');
  }
}

/**
 * Creates the server of one request, because the SDK needs a new instance for each. Tools are not registered on it, because the
 * cost would grow with their number. Two request handlers use the toolbox of the catalogue, and lists contain `allTools` in place
 * of the tools.
 */
export function createProtocolServer(toolbox: Toolbox, deps: ProtocolServerOptions): Server {
  const identity = { name: 'quartermaster', title: 'Quartermaster', version: deps.version };
  const capabilities = { tools: deps.tellsChanges ? { listChanged: true } : {} };
  const server = new Server(identity, { capabilities, instructions, cacheHints, jsonSchemaValidator });
  server.setRequestHandler('tools/list', ({ params }) => {
    if (params?.cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor.');
    return { tools: [allTools] };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const plugin = toolbox.findPlugin(params.name);
    if (plugin === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${JSON.stringify(params.name)}.`);
    }
    const { _meta: meta, signal } = context.mcpReq;
    return await runTool(deps, {
      plugin,
      input: params.arguments ?? {},
      headerOf: (name) => context.http?.req?.headers.get(name) ?? undefined,
      meta,
      projectId: context.http?.authInfo?.clientId ?? '-',
      keyId: readKeyId(context.http?.authInfo?.extra),
      signal,
      onProgress: reporterFor(context),
    });
  });
  return server;
}

const maxNotifications = 100;

/** Sends progress to clients that requested it. The values rise, as the specification requires, and their number is bounded. */
function reporterFor({ mcpReq }: ServerContext): RunCaller['onProgress'] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = -1;
  let sent = 0;
  return ({ fraction: progress, message }) => {
    if (progress <= last || sent >= maxNotifications || mcpReq.signal.aborted) return;
    last = progress;
    sent += 1;
    const params = { progressToken, progress, total: 1, ...(message === undefined ? {} : { message }) };
    // A failed notification is ignored, because the client has disconnected.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

function readKeyId(extra: Record<string, unknown> | undefined): string | undefined {
  return typeof extra?.keyId === 'string' ? extra.keyId : undefined;
}

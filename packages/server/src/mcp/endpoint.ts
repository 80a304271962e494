import {
  type AuthInfo,
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createProtocolServer, type ProtocolServerDeps } from './protocol-server.ts';
import type { Toolbox } from './toolbox.ts';

/** Streamable HTTP for one toolbox, without state: every request stands for itself, whatever its revision. */
export interface Endpoint {
  /** @param request its signal aborts when the client has gone before it was answered */
  answer(request: Request, message: unknown, caller: McpCaller): Promise<Response>;
}

/** null without a key. */
export interface McpCaller {
  readonly projectId: string | null;
  readonly keyId: string | null;
}

/** Where clients of one address listen for changes, whichever endpoint answered them. */
export interface Channel {
  readonly bus: InMemoryServerEventBus;
  /** Remembers what has to be ended when the service stops. */
  add(handler: { close(): Promise<void> }): void;
  close(): Promise<void>;
}

export function createChannel(): Channel {
  const bus = new InMemoryServerEventBus();
  let handlers: Array<{ close(): Promise<void> }> = [];
  return {
    bus,
    add(handler) {
      // Those replaced long ago are kept only while somebody may listen there.
      if (bus.listenerCount === 0) handlers = [];
      handlers.push(handler);
    },
    close: async () => {
      await Promise.all(handlers.map((handler) => handler.close()));
    },
  };
}

export function createEndpoint(toolbox: Toolbox, deps: ProtocolServerDeps, channel: Channel): Endpoint {
  // The name only: the message may repeat a part of the request.
  const onerror = (error: Error) => deps.logger.debug({ reason: error.name }, 'MCP request refused');
  const newServer = (isNewest: boolean) => createProtocolServer(toolbox, { ...deps, tellsChanges: isNewest });
  const newest = createMcpHandler(() => newServer(true), { legacy: 'reject', onerror, bus: channel.bus });
  channel.add(newest);

  /** The revisions before 2026-07-28. The SDK's own handler for them streams every answer. */
  async function answerLegacy(request: Request, message: unknown, authInfo: AuthInfo): Promise<Response> {
    const server = newServer(false);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !wantsStream(message) });
    await server.connect(transport);
    const { promise: gone, resolve } = Promise.withResolvers<Response>();
    const end = () => {
      server.close().catch(onerror);
      resolve(new Response(null, { status: 499 }));
    };
    if (request.signal.aborted) end();
    else request.signal.addEventListener('abort', end, { once: true });
    return await Promise.race([transport.handleRequest(request, { parsedBody: message, authInfo }), gone]);
  }

  return {
    async answer(request, message, { projectId, keyId }) {
      const authInfo: AuthInfo = { token: '', clientId: projectId ?? '-', scopes: ['plugins'], extra: { keyId } };
      if (await isLegacyRequest(request, message)) return await answerLegacy(request, message, authInfo);
      return await newest.fetch(request, { parsedBody: message, authInfo });
    },
  };
}

/** One JSON answer is cheaper for both sides than a stream of one event; progress needs the stream. */
function wantsStream(message: unknown): boolean {
  const params: unknown = Reflect.get(Object(message), 'params');
  const meta: unknown = Reflect.get(Object(params), '_meta');
  return Reflect.get(Object(meta), 'progressToken') !== undefined;
}

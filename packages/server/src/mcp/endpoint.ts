import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createProtocolServer, type ProtocolServerDeps } from './protocol-server.ts';
import type { Toolbox } from './toolbox.ts';

/** Streamable HTTP for one toolbox, without state: every request stands for itself, whatever its revision. */
export interface Endpoint {
  /** @param request its signal aborts when the client has gone before it was answered */
  answer(request: Request, message: unknown, projectId: string | null): Promise<Response>;
  /** Ends subscriptions, which would never end by themselves. Calls in flight go on. */
  endStreams(): void;
}

/** Of the revisions 2025-06-18 and 2025-11-25 one call is a call; of 2026-07-28 the SDK keeps subscriptions. */
export function createEndpoint(toolbox: Toolbox, deps: ProtocolServerDeps): Endpoint {
  const onerror = (error: Error) => deps.logger.debug({ reason: error.name }, 'MCP request refused');
  const newServer = () => createProtocolServer(toolbox, deps);
  const newHandler = (): McpHttpHandler => createMcpHandler(newServer, { legacy: 'reject', onerror });
  const calls = newHandler();
  // Closing a handler aborts all it serves, so what never ends has one of its own.
  const subscriptions = newHandler();

  async function answerLegacy(request: Request, message: unknown, authInfo: AuthInfo): Promise<Response> {
    const server = newServer();
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
    async answer(request, message, projectId) {
      const authInfo: AuthInfo = { token: '', clientId: projectId ?? '-', scopes: ['plugins'] };
      if (await isLegacyRequest(request, message)) return await answerLegacy(request, message, authInfo);
      const handler = isSubscription(message) ? subscriptions : calls;
      return await handler.fetch(request, { parsedBody: message, authInfo });
    },
    endStreams: () => {
      subscriptions.close().catch(onerror);
    },
  };
}

/** One JSON answer is cheaper for both sides than a stream of one event; progress needs the stream. */
function wantsStream(message: unknown): boolean {
  const params: unknown = Reflect.get(Object(message), 'params');
  const meta: unknown = Reflect.get(Object(params), '_meta');
  return Reflect.get(Object(meta), 'progressToken') !== undefined;
}

function isSubscription(message: unknown): boolean {
  return Reflect.get(Object(message), 'method') === 'subscriptions/listen';
}

import {
  type AuthInfo,
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Prepared } from '../kernel/prepared-lists.ts';
import type { Endpoint, McpAnswer, McpRequest } from './endpoint.ts';
import { holdsTools, insertTools } from './insert-tools.ts';
import { createProtocolServer, type ProtocolServerDeps } from './protocol-server.ts';
import type { Toolbox } from './toolbox.ts';

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

/** Everything of the protocol, by the library. */
export function createLibraryEndpoint(toolbox: Toolbox, deps: ProtocolServerDeps, channel: Channel): Endpoint {
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
    async answer(asked, message, { projectId: clientId, keyId }) {
      const request = toWebRequest(asked);
      const authInfo: AuthInfo = { token: '', clientId, scopes: ['plugins'], extra: { keyId } };
      const options = { parsedBody: message, authInfo };
      const isOld = await isLegacyRequest(request, message);
      const response = isOld ? await answerLegacy(request, message, authInfo) : await newest.fetch(request, options);
      return await answerWithTools(response, () => toolbox.listed());
    },
  };
}

/**
 * Making a whole `Request` takes longer than anything else we do for a call: its signal follows ours through a registry
 * of the collector. With a parsed body nothing else of it is read.
 */
function toWebRequest({ headers, signal }: McpRequest): Request {
  return { method: 'POST', url: 'http://localhost/mcp', headers: headers(), signal } as Request;
}

/** The library's answer with the tools where it has a list of them. */
async function answerWithTools(
  { status, headers: sent, body }: Response,
  listed: () => Promise<Prepared>,
): Promise<McpAnswer> {
  // The length that the library may have counted is that of a list without tools.
  const headers = [...sent].filter(([name]) => name !== 'content-length');
  if (body === null) return { status, headers, body };
  // Events are passed on as they come.
  if (sent.get('content-type')?.startsWith('text/event-stream') === true) {
    return { status, headers, body: ReadableStream.from(insertTools(body, listed)) };
  }
  const bytes = Buffer.from(await new Response(body).arrayBuffer());
  if (!holdsTools(bytes)) return { status, headers, body: bytes };
  return { status, headers, body: ReadableStream.from(insertTools([bytes], listed)) };
}

/** One JSON answer is cheaper for both sides than a stream of one event; progress needs the stream. */
function wantsStream(message: unknown): boolean {
  const params: unknown = Reflect.get(Object(message), 'params');
  const meta: unknown = Reflect.get(Object(params), '_meta');
  return Reflect.get(Object(meta), 'progressToken') !== undefined;
}

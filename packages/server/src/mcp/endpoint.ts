import {
  type AuthInfo,
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createProtocolServer, type ProtocolServerDeps, standIn } from './protocol-server.ts';
import type { Toolbox } from './toolbox.ts';

/** Streamable HTTP for one toolbox, without state: every request stands for itself, whatever its revision. */
export interface Endpoint {
  /** @param request its signal aborts when the client has gone before it was answered */
  answer(request: McpRequest, message: unknown, caller: McpCaller): Promise<McpAnswer>;
}

/**
 * What the protocol reads of a request whose body is parsed already. Making a whole `Request` of it takes longer than
 * anything else we do for a call: its signal follows ours through a registry of the collector.
 */
export type McpRequest = Pick<Request, 'method' | 'url' | 'headers' | 'signal'>;

export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** All of it, or as it comes. */
  readonly body: Buffer | ReadableStream | null;
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
  const newServer = (isNewest: boolean, listsStandIn: boolean) =>
    createProtocolServer(toolbox, { ...deps, tellsChanges: isNewest, listsStandIn });
  const newestFor = (isListing: boolean) => {
    const options = { legacy: 'reject', onerror, bus: channel.bus } as const;
    const handler = createMcpHandler(() => newServer(true, isListing), options);
    channel.add(handler);
    return handler;
  };
  const [newest, newestLister] = [newestFor(false), newestFor(true)];

  /** The revisions before 2026-07-28. The SDK's own handler for them streams every answer. */
  async function answerLegacy(request: Request, message: unknown, authInfo: AuthInfo): Promise<Response> {
    const server = newServer(false, isListing(message));
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
    async answer(asked, message, { projectId, keyId }) {
      const request = asked as Request; // with a parsed body nothing else of it is read
      const authInfo: AuthInfo = { token: '', clientId: projectId ?? '-', scopes: ['plugins'], extra: { keyId } };
      const isOld = await isLegacyRequest(request, message);
      if (!isListing(message)) {
        return await whole(
          isOld
            ? await answerLegacy(request, message, authInfo)
            : await newest.fetch(request, { parsedBody: message, authInfo }),
        );
      }
      const listed = isOld
        ? await answerLegacy(request, message, authInfo)
        : await newestLister.fetch(request, { parsedBody: message, authInfo });
      return await withTools(listed, toolbox);
    },
  };
}

function isListing(message: unknown): boolean {
  return Reflect.get(Object(message), 'method') === 'tools/list';
}

const standInText = JSON.stringify(standIn);

/** Writing out a thousand tools takes longer than all else about them: it is done once, and put where the stand-in is. */
async function withTools(response: Response, toolbox: Toolbox): Promise<McpAnswer> {
  const [before = '', after] = (await response.text()).split(standInText);
  // A refusal lists nothing.
  const parts = after === undefined ? [before] : [before, toolbox.listed(), after];
  const { status, headers } = response;
  return { status, headers, body: parts.length === 1 && before === '' ? null : join(parts) };
}

async function whole(response: Response): Promise<McpAnswer> {
  const { status, headers, body } = response;
  // Events are passed on as they come.
  if (body === null || headers.get('content-type')?.startsWith('text/event-stream') === true) return response;
  return { status, headers, body: Buffer.from(await response.arrayBuffer()) };
}

function join(parts: ReadonlyArray<string | Buffer>): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

/** One JSON answer is cheaper for both sides than a stream of one event; progress needs the stream. */
function wantsStream(message: unknown): boolean {
  const params: unknown = Reflect.get(Object(message), 'params');
  const meta: unknown = Reflect.get(Object(params), '_meta');
  return Reflect.get(Object(meta), 'progressToken') !== undefined;
}

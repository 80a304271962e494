import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/server';
import { isJSONRPCRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { readMessages } from './mcp-messages.ts';

export interface BridgeOptions {
  /** The MCP endpoint of a running service. */
  readonly url: URL;
  /** The API key and the credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The transport of the client. */
  readonly transport: Transport;
}

const refused = -32_000;

/**
 * Forwards each message of a client to the service, and each answer back. It knows only the transport, so new revisions of the
 * protocol need no change. Resolves when the client has disconnected; requests in progress are aborted.
 */
export async function runBridge({ url, headers, transport }: BridgeOptions): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const inFlight = new Map<string | number, AbortController>();
  /** The negotiated revision of a client that sent `initialize`. */
  let negotiated: string | undefined;

  async function post(message: JSONRPCMessage, signal: AbortSignal): Promise<Response> {
    return await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        ...headersOf(message, negotiated),
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
      signal,
    });
  }

  async function ask(request: JSONRPCRequest): Promise<void> {
    const controller = new AbortController();
    inFlight.set(request.id, controller);
    try {
      for await (const answer of readMessages(await post(request, controller.signal), request.id)) {
        if (request.method === 'initialize') negotiated = versionIn(answer) ?? negotiated;
        await transport.send(answer);
      }
    } catch (error) {
      if (controller.signal.aborted) return;
      const message = `The service at ${url.origin} cannot be reached: ${reasonOf(error)}`;
      await transport.send({ jsonrpc: '2.0', id: request.id, error: { code: refused, message } });
    } finally {
      inFlight.delete(request.id);
    }
  }

  transport.onmessage = (message: JSONRPCMessage) => {
    if (isJSONRPCRequest(message)) {
      ask(message).catch(end);
      return;
    }
    // The service detects a cancellation by the closed request; the notification has no effect without a session.
    inFlight.get(cancelledId(message))?.abort();
  };
  transport.onclose = end;
  await transport.start();
  await ended;
  for (const controller of inFlight.values()) controller.abort();
}

/** The HTTP headers of a message: from its `_meta` since 2026-07-28, before that from the negotiation. */
function headersOf(message: JSONRPCMessage, negotiated: string | undefined): Record<string, string> {
  const { method, params } = message as { method?: string; params?: Record<string, unknown> };
  const version: unknown = Reflect.get(Object(params?._meta), PROTOCOL_VERSION_META_KEY);
  if (typeof version !== 'string') return negotiated === undefined ? {} : { 'MCP-Protocol-Version': negotiated };
  const name = params?.name ?? params?.uri;
  return {
    'MCP-Protocol-Version': inHeader(version),
    ...(method === undefined ? {} : { 'Mcp-Method': inHeader(method) }),
    ...(typeof name === 'string' ? { 'Mcp-Name': inHeader(name) } : {}),
  };
}

/** Encodes text for a header as the specification requires. */
function inHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function versionIn(answer: JSONRPCMessage): string | undefined {
  const version: unknown = Reflect.get(Object(Reflect.get(answer, 'result')), 'protocolVersion');
  return typeof version === 'string' ? version : undefined;
}

/** The id of the cancelled request. An empty text is not a valid request id here. */
function cancelledId(message: JSONRPCMessage): string | number {
  const { method, params } = message as { method?: string; params?: { requestId?: string | number } };
  return method === 'notifications/cancelled' ? (params?.requestId ?? '') : '';
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? message;
}

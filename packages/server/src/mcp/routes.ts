import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { App } from '../http/app.ts';
import { Problem } from '../kernel/problem.ts';
import type { McpAnswer } from './answer-batch.ts';
import { maxBatch } from './batch-limits.ts';
import type { McpRequest } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';

/** The part that is loaded with the first request: a service without MCP clients saves the memory of the SDK. */
export interface Mcp {
  readonly endpoints: Endpoints;
}

export interface McpRoutesDeps {
  /** Called for each request; makes it once. */
  readonly open: () => Promise<Mcp>;
  /** The error in the Host or Origin of a request; null when both are allowed. */
  readonly checkSite: (headers: FastifyRequest['headers']) => Error | null;
  /** Authentication of the plugins address. */
  readonly onRequest: onRequestHookHandler;
  /** The project of the key that was sent, null without one. */
  readonly projectOf: (request: FastifyRequest) => string | null;
  /** The id of the key that was sent, null without one. */
  readonly keyOf: (request: FastifyRequest) => string | null;
}

/**
 * The catalogue as MCP servers: `POST /mcp` with every plugin, `POST /mcp/{bundle_id}` with those of a bundle. What is
 * wrong with the HTTP request is answered in the envelope; what is wrong with the message, as JSON-RPC.
 */
export function mcpRoutes(app: App, { open, checkSite, onRequest, projectOf, keyOf }: McpRoutesDeps): void {
  async function guardHosts(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const complaint = checkSite(request.headers)?.message ?? null;
    return complaint === null ? undefined : reply.code(403).send(rpcError(-32000, complaint));
  }

  async function answer(request: FastifyRequest, reply: FastifyReply, bundleId?: string): Promise<FastifyReply> {
    const { endpoints } = await open();
    const endpoint = endpoints.getEndpoint(bundleId);
    if (request.body === undefined) return reply.code(400).send(rpcError(-32700, 'Parse error: the body is empty'));
    if (Array.isArray(request.body) && request.body.length > maxBatch) {
      return reply.code(400).send(rpcError(-32600, `Invalid Request: a batch has more than ${maxBatch} messages`));
    }
    const caller = { projectId: projectOf(request) ?? '-', keyId: keyOf(request) ?? undefined };
    return send(reply, await endpoint.answer(toMcpRequest(request, reply), request.body, caller));
  }

  // A scope of its own: its error handler is nobody else's.
  app.register(async (scope) => {
    scope.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
      const complaint = complaintAboutBody(error);
      if (complaint === null) throw error;
      return reply.code(400).send(rpcError(-32700, `Parse error: ${complaint}`));
    });
    const hooks = { onRequest: [guardHosts, onRequest] };
    scope.post('/mcp', hooks, async (request, reply) => await answer(request, reply));
    scope.post<{ Params: { bundle_id: string } }>(
      '/mcp/:bundle_id',
      hooks,
      async (request, reply) => await answer(request, reply, request.params.bundle_id),
    );
  });
}

function rpcError(code: number, message: string) {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

/** A body that could not be read as JSON; null when the error is about something else. */
function complaintAboutBody(error: { statusCode?: number }): string | null {
  if (error instanceof Problem) return error.status === 400 || error.status === 422 ? error.message : null;
  return error.statusCode === 400 ? 'the body is not valid JSON' : null;
}

const passedHeaders = /^(?:accept|content-type|mcp-.+|x-credential-.+|x-plugin-credentials|x-plugin-profile)$/;

/** The headers for the SDK, without the key. */
function toMcpRequest({ headers: sent }: FastifyRequest, reply: FastifyReply): McpRequest {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  const passed = Object.entries(sent).filter(([name, value]) => value !== undefined && passedHeaders.test(name));
  const headers = new Headers(passed.map(([name, value]) => [name, String(value)]));
  return { headers, signal: controller.signal };
}

function send(reply: FastifyReply, { status, headers, body }: McpAnswer): FastifyReply {
  // Nobody is left to answer.
  if (reply.raw.destroyed) return reply.hijack();
  reply.code(status);
  for (const [name, value] of headers) if (name !== 'connection') reply.header(name, value);
  if (body === null) return reply.send();
  if (Buffer.isBuffer(body)) return reply.send(body);
  // The global type and Node's own are the same stream.
  return reply.send(Readable.fromWeb(body as NodeReadableStream));
}

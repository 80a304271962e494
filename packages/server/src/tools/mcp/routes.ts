import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { type Static, Type } from 'typebox';
import { addRateFields, rateRefusals } from '../../platform/admission/rate-answers.ts';
import { senderOf } from '../../platform/audit/audit.ts';
import type { Caller } from '../../platform/caller.ts';
import type { App } from '../../platform/http/app.ts';
import { permissionsWithoutKey } from '../../platform/permissions.ts';
import { Problem } from '../../platform/problem.ts';
import type { RunCaller } from '../execution/run.ts';
import type { McpRequest } from './endpoint.ts';
import type { AnswerRequest, AskedTools, Endpoints } from './endpoints.ts';
import { type Accepted, readAccept, readMessage } from './lenient-request.ts';
import type { McpAnswer } from './mcp-answer.ts';
import { type Choice, checkParameters, readChoice } from './toolsets/choice.ts';

/** The part that is created at the first request. Its library is loaded when the service starts. */
export interface Mcp {
  readonly endpoints: Endpoints;
}

export interface McpRoutesDeps {
  /** Called for each request. Creates the value once. */
  readonly open: () => Promise<Mcp>;
  /** The error in the Host or Origin of a request; null when both are allowed. */
  readonly checkSite: (headers: FastifyRequest['headers']) => Error | null;
  readonly guard: McpGuard;
  /** Adds to a refusal how an application can sign in. */
  readonly addChallenge: (error: unknown, request: FastifyRequest) => unknown;
}

/** Authentication of one address. */
export interface McpGuard {
  /** Requires what the address requires; a key may have `plugins:read` or `collections:read`. */
  readonly check: onRequestHookHandler;
  /** Requires what the address requires; a key has the scope `plugins:read`. */
  readonly checkPlugins: onRequestHookHandler;
  /** Always requires a key of scope `collections:read`, which sees the collection of the path. */
  readonly checkCollections: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** The caller whose key was sent. */
  findCaller(request: FastifyRequest): Caller | undefined;
}

/**
 * The catalogue and the collections as MCP servers: `POST /mcp` with what the key may use, `POST /mcp/{bundle_id}` with the
 * plugins of a bundle, `POST /mcp/collections/{collection_id}` with one collection. Errors of the HTTP request are
 * returned in the envelope; what is wrong with the message, as JSON-RPC.
 */
export function mcpRoutes(app: App, { open, checkSite, guard, addChallenge }: McpRoutesDeps): void {
  async function guardHosts(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const message = checkSite(request.headers)?.message ?? null;
    return message === null ? undefined : reply.code(403).send(rpcError(-32000, message));
  }

  async function answer(
    { request, reply, collectionId }: McpExchange,
    find: (endpoints: Endpoints, caller: Caller | undefined) => AnswerRequest | Promise<AnswerRequest>,
  ): Promise<FastifyReply> {
    const { endpoints } = await open();
    const known = guard.findCaller(request);
    const answerRequest = await find(endpoints, known);
    if (request.body === undefined) return reply.code(400).send(rpcError(-32700, 'Parse error: the body is empty'));
    // Only revision 2025-03-26 had batches.
    if (Array.isArray(request.body)) {
      return reply
        .code(400)
        .send(rpcError(-32600, 'Invalid Request: batches are not accepted; send each message alone'));
    }
    const { id = null } = Object(request.body) as { readonly id?: unknown };
    if (id !== null && typeof id !== 'string' && !Number.isSafeInteger(id)) {
      return reply.code(400).send(rpcError(-32600, 'Invalid Request: `id` must be a text or an integer below 2^53'));
    }
    const refusal = rateRefusals.get(request.raw);
    if (refusal !== undefined && Reflect.get(Object(request.body), 'method') !== 'tools/call') throw refusal;
    const { projectId = null, keyId = null, permissions = permissionsWithoutKey } = known ?? {};
    const { links, profile } = request.query as McpQuery; // validated against the schema
    const view = { wantsLinks: links === '1', isChatGpt: profile === 'chatgpt' };
    const onCounted: RunCaller['onCounted'] = (fields) => addRateFields(reply, fields);
    const sender = senderOf(request);
    const caller = { projectId, keyId, permissions, collectionId, view, sender, onCounted, refusal };
    const accepted = readAccept(request.headers.accept);
    const message = readMessage(request.body, accepted);
    return send(reply, await answerRequest(toMcpRequest(request, reply, accepted), message, caller));
  }

  // A separate scope, so that its error handler applies to no other routes.
  app.register(async (scope) => {
    scope.setErrorHandler((error: { statusCode?: number; validation?: unknown }, request, reply) => {
      const message = describeBodyError(error);
      if (message === null) throw addChallenge(error, request);
      return reply.code(400).send(rpcError(-32700, `Parse error: ${message}`));
    });
    // Some clients add a slash to the URL of a server.
    for (const slash of ['', '/']) {
      scope.post(`/mcp${slash}`, { onRequest: [guardHosts, guard.check], schema }, async (request, reply) =>
        answer({ request, reply }, (all, caller) => all.openPlugins(undefined, askedBy(request, caller))),
      );
      scope.post<{ Params: { bundle_id: string } }>(
        `/mcp/:bundle_id${slash}`,
        { onRequest: [guardHosts, guard.checkPlugins] },
        async (request, reply) =>
          answer({ request, reply }, (all, caller) =>
            all.openPlugins(request.params.bundle_id, askedBy(request, caller)),
          ),
      );
      scope.post<{ Params: { collection_id: string } }>(
        `/mcp/collections/:collection_id${slash}`,
        { onRequest: [guardHosts, guard.checkCollections], schema },
        async (request, reply) => {
          const { collection_id: collectionId } = request.params;
          checkParameters(Object(request.query), otherParameters);
          return await answer({ request, reply, collectionId }, (all, caller) =>
            // `checkCollections` required a key.
            all.openCollection((caller as Caller).projectId, collectionId),
          );
        },
      );
    }
  });
}

const McpQuery = Type.Object({
  /** Adds a `resource_link` for each document that `search` finds. */
  links: Type.Optional(Type.Literal('1')),
  /** Gives `search` and `fetch` only the arguments that ChatGPT allows. */
  profile: Type.Optional(Type.Literal('chatgpt')),
});
type McpQuery = Static<typeof McpQuery>;

const schema = { querystring: McpQuery };

/** The parameters that do not choose tools. */
const otherParameters = Object.keys(McpQuery.properties);

function choiceOf({ query }: { readonly query: unknown }): Choice {
  return readChoice(Object(query), otherParameters);
}

function askedBy(request: { readonly query: unknown }, caller: Caller | undefined): AskedTools {
  return { choice: choiceOf(request), permissions: caller?.permissions ?? permissionsWithoutKey };
}

interface McpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly collectionId?: string;
}

function rpcError(code: number, message: string) {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

/** A body that could not be read as JSON; null when the error is about something else. */
function describeBodyError(error: { statusCode?: number; validation?: unknown }): string | null {
  if (error.validation !== undefined) return null;
  if (error instanceof Problem && isAboutUrl(error)) return null;
  if (error instanceof Problem) return error.status === 400 || error.status === 422 ? error.message : null;
  return error.statusCode === 400 ? 'the body is not valid JSON' : null;
}

/** A name in the query string is unknown. */
function isAboutUrl({ details = [] }: Problem): boolean {
  return details.some(({ path }) => typeof path === 'string' && /^query(?:\/|$)/.test(path));
}

const passedHeaders = /^(?:accept|content-type|mcp-.+|x-credential-.+|x-plugin-credentials|x-plugin-profile)$/;

/** The headers for the SDK, without the key. The SDK requires that a client names both types. */
function toMcpRequest({ headers: sent }: FastifyRequest, reply: FastifyReply, { json }: Accepted): McpRequest {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  const passed = Object.entries(sent).filter(([name, value]) => value !== undefined && passedHeaders.test(name));
  const headers = new Headers(passed.map(([name, value]) => [name, String(value)]));
  if (json) headers.set('accept', 'application/json, text/event-stream');
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

import {
  type AuthInfo,
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  ProtocolErrorCode,
  specTypeSchemas,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { StreamShares } from '../../platform/admission/stream-shares.ts';
import type { CachedJson } from '../../platform/json/json-cache.ts';
import type { Permissions } from '../../platform/permissions.ts';
import type { Problem } from '../../platform/problem.ts';
import type { RunCaller } from '../execution/run.ts';
import { holdsTools, insertTools } from './insert-tools.ts';
import type { KnowledgeKey } from './knowledge/knowledge.ts';
import type { McpAnswer } from './mcp-answer.ts';
import { createProtocolServer, type ProtocolServerDeps } from './protocol-server.ts';
import { type ChosenTools, noTools } from './toolsets/chosen-tools.ts';
import { createToolOffer, type OffersDeps, type ToolOffer } from './toolsets/tool-offer.ts';

/** Serves Streamable HTTP at one URL without state: each request is independent, in every revision of the protocol. */
export interface Endpoint {
  /**
   * @param message the parsed body; the body of `request` is not read
   * @param caller the project and key that the tool runs for
   * @param tools the plugins of this URL, for callers that may use plugins
   * @throws Problem TOO_MANY_REQUESTS when the message subscribes and too many streams are open
   */
  answer(request: McpRequest, message: unknown, caller: McpCaller, tools: ChosenTools): Promise<McpAnswer>;
  /** Notifies subscribed clients. */
  notifyToolsChanged(): void;
  /** Ends the streams of subscribed clients. */
  close(): Promise<void>;
}

export interface McpRequest {
  readonly headers: Headers;
  /** Aborts when the client disconnects before the answer is complete. */
  readonly signal: AbortSignal;
}

export interface McpCaller extends Pick<RunCaller, 'projectId' | 'keyId' | 'sender' | 'onCounted'> {
  readonly permissions: Permissions;
  /** The rate limit that refuses the call of a tool. Its result says when to repeat it. */
  readonly refusal?: Problem | undefined;
  /** The collection of the endpoint. Undefined for an endpoint of every collection. */
  readonly collectionId?: string | undefined;
  /** The form of the knowledge tools that the URL requests. */
  readonly view?: KnowledgeView;
}

export interface KnowledgeView {
  readonly wantsLinks: boolean;
  readonly isChatGpt: boolean;
}

interface LegacyOptions {
  readonly authInfo: AuthInfo;
  /** Whether to answer with JSON instead of a stream of events. */
  readonly enableJsonResponse: boolean;
}

export interface EndpointDeps extends ProtocolServerDeps {
  /** Limits the streams of subscribed clients. */
  readonly streams: StreamShares;
  readonly offers: OffersDeps;
}

/** Creates an endpoint. The SDK implements all revisions of the protocol (ADR 0018). */
export function createEndpoint(deps: EndpointDeps): Endpoint {
  // Only the name is logged, because the message may quote the request.
  const onerror = (error: Error) => deps.logger.debug({ reason: error.name }, 'MCP request refused');
  const newServer = (authInfo: AuthInfo | undefined, tellsChanges: boolean) => {
    const { offer, projectId, keyId, permissions, sender, onCounted, refusal } = extraOf(authInfo);
    const owner = { projectId, keyId, permissions, sender, onCounted, refusal };
    return createProtocolServer(offer, { ...deps, owner, tellsChanges, knowledgeKey: readKnowledgeKey(authInfo) });
  };
  const bus = new InMemoryServerEventBus();
  const newest = createMcpHandler(({ authInfo }) => newServer(authInfo, true), { legacy: 'reject', onerror, bus });

  /** Serves revisions before 2026-07-28. The SDK's own handler for them answers every call with a stream. */
  async function answerLegacy(request: Request, message: unknown, options: LegacyOptions): Promise<Response> {
    const { authInfo, enableJsonResponse } = options;
    const server = newServer(authInfo, false);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse });
    await server.connect(transport);
    const { promise: disconnected, resolve } = Promise.withResolvers<Response>();
    const end = () => {
      server.close().catch(onerror);
      resolve(new Response(null, { status: 499 }));
    };
    if (request.signal.aborted) end();
    else request.signal.addEventListener('abort', end, { once: true });
    return await Promise.race([transport.handleRequest(request, { parsedBody: message, authInfo }), disconnected]);
  }

  return {
    async answer(asked, message, caller, tools) {
      const { projectId, keyId, permissions } = caller;
      const request = toWebRequest(asked);
      const headerOf = (name: string) => asked.headers.get(name) ?? undefined;
      const chosen = permissions.has('plugins:read') ? tools : noTools;
      const offer = createToolOffer(chosen, { headerOf, projectId }, deps.offers);
      const extra: Extra = { ...caller, offer };
      const authInfo: AuthInfo = { token: '', clientId: '', scopes: [...permissions.scopes], extra: { ...extra } };
      const options = { parsedBody: message, authInfo };
      const finish = (response: Response) => answerWithTools(response, offer.listed);
      const isLegacy = await isLegacyRequest(request, message);
      const refused = refuseParams(message, { isLegacy });
      if (refused !== null) return refused;
      if (!isLegacy) {
        if (!subscribes(message)) return await finish(await newest.fetch(request, options));
        const leave = deps.streams.enter({ projectId, keyId }, asked.signal);
        try {
          return leaveAtEnd(await finish(await newest.fetch(request, options)), leave);
        } catch (error) {
          leave();
          throw error;
        }
      }
      const enableJsonResponse = !wantsStream(message);
      return await finish(await answerLegacy(request, message, { authInfo, enableJsonResponse }));
    },
    notifyToolsChanged: () => void bus.publish({ kind: 'tools_list_changed' }),
    close: () => newest.close(),
  };
}

/** Extra information that `answer` passes to the MCP server of a request. */
interface Extra extends McpCaller {
  readonly offer: ToolOffer;
}

function extraOf(authInfo: AuthInfo | undefined): Extra {
  return authInfo?.extra as unknown as Extra; // written by `answer`
}

/** Returns null without a key and for a key without the scope `collections:read`. */
function readKnowledgeKey(authInfo: AuthInfo | undefined): KnowledgeKey | null {
  if (authInfo === undefined) return null;
  const { projectId, keyId, permissions, collectionId, view = plainView } = extraOf(authInfo);
  if (projectId === null || keyId === null || !permissions.has('collections:read')) return null;
  return { projectId, keyId, permissions, collectionId, ...view };
}

const plainView: KnowledgeView = { wantsLinks: false, isChatGpt: false };

/**
 * Returns the members of a `Request` that the SDK reads when the body is already parsed. A real `Request` would follow the signal
 * through a `FinalizationRegistry`, which costs more than the rest of a call.
 */
function toWebRequest({ headers, signal }: McpRequest): Request {
  return { method: 'POST', url: 'http://localhost/mcp', headers, signal } as Request;
}

/** Replaces the placeholder for the list of tools in an answer of the SDK. */
async function answerWithTools(
  { status, headers: sent, body }: Response,
  listed: () => Promise<CachedJson>,
): Promise<McpAnswer> {
  // The content length of the SDK covers a list without tools.
  const headers = [...sent].filter(([name]) => name !== 'content-length');
  if (body === null) return { status, headers, body };
  // Events are forwarded immediately.
  if (sent.get('content-type')?.startsWith('text/event-stream') === true) {
    return { status, headers, body: ReadableStream.from(insertTools(body, listed)) };
  }
  const bytes = Buffer.from(await new Response(body).arrayBuffer());
  if (!holdsTools(bytes)) return { status, headers, body: bytes };
  const whole = insertTools([bytes], listed);
  const isSmall = Buffer.isBuffer((await listed()).body);
  return { status, headers, body: isSmall ? Buffer.concat(await Array.fromAsync(whole)) : ReadableStream.from(whole) };
}

/** Whether the answer of the message is a stream that stays open. */
function subscribes(message: unknown): boolean {
  return Reflect.get(Object(message), 'method') === 'subscriptions/listen';
}

/** Calls `leave` at the end of the body. The signal of the request does not abort when the service ends a stream. */
function leaveAtEnd(answer: McpAnswer, leave: () => void): McpAnswer {
  if (!(answer.body instanceof ReadableStream)) {
    leave();
    return answer;
  }
  const { body } = answer;
  async function* passOn() {
    try {
      yield* body;
    } finally {
      leave();
    }
  }
  return { ...answer, body: ReadableStream.from(passOn()) };
}

/** A stream is needed only for progress. A JSON answer costs both sides less than a stream of one event. */
function wantsStream(message: unknown): boolean {
  const params: unknown = Reflect.get(Object(message), 'params');
  const meta: unknown = Reflect.get(Object(params), '_meta');
  return Reflect.get(Object(meta), 'progressToken') !== undefined;
}

/** The requests whose `params` the SDK checks, but reports as a failure of the service. */
const checks: ReadonlyMap<string, (request: unknown) => Checked> = new Map(
  (
    [
      ['initialize', 'InitializeRequest'],
      ['tools/list', 'ListToolsRequest'],
      ['tools/call', 'CallToolRequest'],
      ['resources/list', 'ListResourcesRequest'],
      ['resources/read', 'ReadResourceRequest'],
      ['resources/templates/list', 'ListResourceTemplatesRequest'],
    ] as const
  ).map(([method, name]) => [method, (request) => specTypeSchemas[name]['~standard'].validate(request)]),
);

interface Checked {
  readonly issues?:
    | ReadonlyArray<{ readonly message: string; readonly path?: readonly unknown[] | undefined }>
    | undefined;
}

/** Returns the answer to a request with wrong `params`, which the SDK need not see. Null for every other message. */
function refuseParams(message: unknown, { isLegacy }: { readonly isLegacy: boolean }): McpAnswer | null {
  const { id, method, params = {} } = Object(message) as Readonly<Record<string, unknown>>;
  if (typeof method !== 'string' || (typeof id !== 'string' && typeof id !== 'number')) return null;
  const reason = findError(method, params, isLegacy);
  if (reason === null) return null;
  const error = { code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${reason}.` };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }));
  // Clients of earlier revisions read the errors of a method only from answers with status 200.
  return { status: isLegacy ? 200 : 400, headers: [['content-type', 'application/json']], body };
}

function findError(method: string, params: unknown, isLegacy: boolean): string | null {
  if (typeof params !== 'object' || Array.isArray(params)) {
    return `\`params\` must be an object; received ${Array.isArray(params) ? 'an array' : `a ${typeof params}`}`;
  }
  // In the newest revision, the SDK describes what is missing.
  const [first] = (isLegacy && checks.get(method)?.({ method, params }).issues) || [];
  if (first === undefined) return null;
  return `\`${(first.path ?? []).join('.')}\`: ${first.message.replace('Invalid input: ', '')}`;
}

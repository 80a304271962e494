import type { McpServerFacts, ToolDefinition } from '@quartermaster/importers/mcp-server';
import type { EgressRequest, EgressResult } from '../../../platform/outbound.ts';
import type { RunProgress } from '../run.ts';
import { type Answer, excerptOf } from '../upstream-answers/answer.ts';
import { findReply, type McpError, type McpReply } from './mcp-messages.ts';
import { createProgressReader } from './read-progress.ts';
import { readToolDefinition } from './tool-definition.ts';

/** A session with one MCP server over Streamable HTTP, for the protocol revisions with a handshake. ADR 0037. */
export interface McpSession {
  readonly server: McpServerFacts;
  listTools(): Promise<Answered<readonly ToolDefinition[]>>;
  callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    onProgress?: (progress: RunProgress) => void,
  ): Promise<Answered<Readonly<Record<string, unknown>>>>;
  /** Cancels the last request at the server. Never rejects. */
  cancel(): Promise<void>;
  /** Ends the session on servers that keep sessions. */
  close(): Promise<void>;
}

export type Answered<T> = { readonly value: T } | { readonly failure: McpFailure };

export type McpFailure =
  /** The server did not answer, or the policy forbids the request. */
  | { readonly kind: 'no_answer'; readonly result: Exclude<EgressResult, { kind: 'response' }> }
  /** The HTTP status is not a success. */
  | {
      readonly kind: 'status';
      readonly answer: Answer;
      /** The JSON-RPC error in the answer, if it has one. It often explains the status. */
      readonly error: McpError | null;
      /** The message of the error, otherwise the beginning of the answer. */
      readonly excerpt: string | null;
    }
  /** A JSON-RPC error. */
  | ({ readonly kind: 'error' } & McpError)
  /** The answer violates the protocol. */
  | { readonly kind: 'protocol'; readonly message: string };

export type SendRequest = (request: EgressRequest) => Promise<EgressResult>;

const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const maxPages = 50;
const maxTools = 2_000;

export interface SessionOptions {
  readonly send: SendRequest;
  /** Sends what ends a session, also after the run was cancelled or its time is over. Default: `send`. */
  readonly sendLast?: SendRequest;
  /** The version of the service. */
  readonly version: string;
}

/** Opens a session. Declares no client capabilities, so the server sends no requests. */
export async function openMcpSession(
  url: string,
  { send, sendLast = send, version }: SessionOptions,
): Promise<Answered<McpSession>> {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  let requests = 0;

  const toPost = (message: Readonly<Record<string, unknown>>): EgressRequest => {
    return { method: 'POST', url, headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) };
  };

  async function ask(
    method: string,
    params: unknown,
    onData?: EgressRequest['onData'],
  ): Promise<Answered<Readonly<Record<string, unknown>>>> {
    requests += 1;
    const result = await send({ ...toPost({ id: requests, method, params }), onData });
    if (result.kind !== 'response') return { failure: { kind: 'no_answer', result } };
    const { status } = result;
    const reply = findReply(result.body, result.headers['content-type'], requests);
    if (status < 200 || status > 299) {
      const error = errorOf(reply);
      const excerpt = error?.message ?? excerptOf(result);
      return { failure: { kind: 'status', answer: result, error, excerpt } };
    }
    const session = result.headers['mcp-session-id'];
    if (session !== undefined) headers['mcp-session-id'] = session;
    if (reply === null) return { failure: { kind: 'protocol', message: `it did not answer ${method} as MCP does` } };
    return 'error' in reply ? { failure: { kind: 'error', ...reply.error } } : { value: reply.result };
  }

  const clientInfo = { name: 'quartermaster', version };
  const opened = await ask('initialize', { protocolVersion: revisions[0], capabilities: {}, clientInfo });
  if ('failure' in opened) return opened;
  const { protocolVersion, serverInfo, instructions, capabilities } = opened.value;
  if (typeof protocolVersion !== 'string' || !revisions.includes(protocolVersion)) {
    const found = JSON.stringify(protocolVersion)?.slice(0, 40);
    return {
      failure: {
        kind: 'protocol',
        message: `it speaks revision ${found} of MCP, which is none of ${revisions.join(', ')}`,
      },
    };
  }
  headers['mcp-protocol-version'] = protocolVersion;
  await send(toPost({ method: 'notifications/initialized' }));
  const { name, version: ofServer } = Object(serverInfo);

  return {
    value: {
      server: {
        name: textOf(name),
        version: textOf(ofServer),
        instructions: textOf(instructions),
        capabilities: Object.keys(Object(capabilities)),
      },
      listTools: () => listTools(ask),
      callTool: (tool, input, onProgress) => {
        const params = { name: tool, arguments: input };
        if (onProgress === undefined) return ask('tools/call', params);
        const progressToken = requests + 1;
        const onData = createProgressReader(progressToken, onProgress);
        return ask('tools/call', { ...params, _meta: { progressToken } }, onData);
      },
      cancel: async () => {
        const params = { requestId: requests, reason: 'The client cancelled the call.' };
        await sendLast(toPost({ method: 'notifications/cancelled', params })).catch(() => {});
      },
      close: async () => {
        if (headers['mcp-session-id'] === undefined) return;
        const { 'content-type': _, ...rest } = headers;
        await sendLast({ method: 'DELETE', url, headers: rest });
      },
    },
  };
}

type Ask = (method: string, params: unknown) => Promise<Answered<Readonly<Record<string, unknown>>>>;

async function listTools(ask: Ask): Promise<Answered<readonly ToolDefinition[]>> {
  const tools: ToolDefinition[] = [];
  let cursor: unknown;
  for (let page = 0; page < maxPages && tools.length <= maxTools; page += 1) {
    const answered = await ask('tools/list', cursor === undefined ? {} : { cursor });
    if ('failure' in answered) return answered;
    const { tools: listed, nextCursor } = answered.value;
    if (!Array.isArray(listed)) return { failure: { kind: 'protocol', message: 'its list of tools is none' } };
    tools.push(...listed.map(readToolDefinition).filter((tool) => tool !== null));
    if (typeof nextCursor !== 'string' || nextCursor === '') return { value: tools };
    cursor = nextCursor;
  }
  return {
    failure: { kind: 'protocol', message: `it lists more than ${maxTools} tools, or on more than ${maxPages} pages` },
  };
}

function errorOf(reply: McpReply | null): McpError | null {
  return reply !== null && 'error' in reply && reply.error.message !== '' ? reply.error : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

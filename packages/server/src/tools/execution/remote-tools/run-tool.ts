import type { RemoteTool } from '@quartermaster/plugin-kit';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import type { EgressResult } from '../../../platform/outbound.ts';
import { type CallContext, outcomeWithoutAnswer } from '../declarative/declarative.ts';
import type { CallOutcome } from '../declarative/interpret-answer.ts';
import { jsonBytes } from '../json-bounds.ts';
import { outputPartLimits } from '../output-parts/output-part.ts';
import type { RunProgress } from '../run.ts';
import { unusedAnswerOf, withUnusedAnswer } from '../unused-answers/unused-answer.ts';
import { boundedMessage, type Reason } from '../upstream-answers/read-reason.ts';
import { failureOf, noUpstreamAnswer } from '../upstream-answers/upstream-failure.ts';
import type { McpError } from './mcp-messages.ts';
import { type McpFailure, type McpSession, openMcpSession, type SendRequest } from './mcp-session.ts';
import { digestOf } from './tool-definition.ts';

export interface ToolRunner {
  /** Calls a tool of an MCP server under the rules of its bundle. */
  run(tool: RemoteTool, input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<CallOutcome>;
}

export interface ToolContext extends CallContext {
  readonly signal: AbortSignal;
  /** Receives the progress that the server reports. Without it, the server is not asked for any. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

const mostBelieved = 10_000;

export interface ToolRunnerDeps {
  /** The version of the service, sent to MCP servers. */
  readonly version: string;
  /** Milliseconds for which a checked definition is trusted before it is checked again. */
  readonly beliefMs: number;
  readonly clock?: Clock;
}

/**
 * Creates a runner that refuses a tool whose definition has changed since its import. A person reviewed the description and
 * the parameters then, and a model relies on them. ADR 0037.
 */
export function createToolRunner({ version, beliefMs, clock = systemClock }: ToolRunnerDeps): ToolRunner {
  const believedUntil = new Map<string, number>();

  async function confirm(tool: RemoteTool, session: McpSession, context: CallContext): Promise<CallOutcome | null> {
    const key = [tool.url, tool.tool, tool.sha256].join('\n');
    if ((believedUntil.get(key) ?? 0) > clock.now()) return null;
    const listed = await session.listTools();
    // Without a list of tools the definition cannot be checked, so the call is refused.
    if ('failure' in listed) return outcomeOf(listed.failure, context);
    const found = listed.value.find(({ name }) => name === tool.tool);
    if (found !== undefined && digestOf(found) === tool.sha256) {
      if (believedUntil.size >= mostBelieved) believedUntil.clear();
      believedUntil.set(key, clock.now() + beliefMs);
      return null;
    }
    const what = found === undefined ? 'no longer lists it' : 'now describes it differently';
    const message = `The tool ${JSON.stringify(tool.tool)} has changed since its import: the MCP server ${what}. Import the server again.`;
    return { kind: 'upstream_failed', ...noUpstreamAnswer, message };
  }

  return {
    async run(tool, input, context) {
      let last: EgressResult | undefined;
      const sendInTime = sendWithin(context, clock);
      const send: SendRequest = async (request) => {
        last = undefined;
        last = await sendInTime(request);
        return last;
      };
      const sends = { send, sendLast: sendAfterwards(context) };
      const opened = await openMcpSession(tool.url, { ...sends, version });
      if ('failure' in opened) return outcomeOf(opened.failure, context);
      const session = opened.value;
      try {
        const refused = await confirm(tool, session, context);
        if (refused !== null) return refused;
        const called = await callOrCancel(session, { tool: tool.tool, input }, context);
        const answer = last && unusedAnswerOf(last);
        const outcome =
          'failure' in called ? outcomeOf(called.failure, context) : await readResult(called.value, context);
        return withUnusedAnswer(outcome, answer);
      } finally {
        await session.close();
      }
    },
  };
}

interface ToolCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Calls the tool. Cancels the call at the server when the caller disconnects or the time is over, because the server would continue otherwise. */
async function callOrCancel(session: McpSession, { tool, input }: ToolCall, { signal, onProgress }: ToolContext) {
  try {
    const called = await session.callTool(tool, input, onProgress);
    const failure = 'failure' in called && called.failure.kind === 'no_answer' ? called.failure.result.kind : null;
    if (failure === 'timed_out') await session.cancel();
    return called;
  } catch (error) {
    if (signal.aborted) await session.cancel();
    throw error;
  }
}

/** Milliseconds for each request that ends a session. */
const lastRequestMs = 2_000;

function sendAfterwards({ broker, policy }: CallContext): SendRequest {
  return (request) => broker.send(request, { ...policy, timeoutMs: lastRequestMs }, new AbortController().signal);
}

/** Applies the time limit of one request to all requests of a run together. */
function sendWithin(
  { broker, policy, signal }: CallContext & { signal: AbortSignal },
  clock = systemClock,
): SendRequest {
  const deadline = clock.now() + policy.timeoutMs;
  return async (request) => {
    const remaining = deadline - clock.now();
    if (remaining <= 0) return { kind: 'timed_out', limitMs: policy.timeoutMs };
    const result = await broker.send(request, { ...policy, timeoutMs: remaining }, signal);
    return result.kind === 'timed_out' ? { kind: 'timed_out', limitMs: policy.timeoutMs } : result;
  };
}

/** The error code of JSON-RPC 2.0 §5.1 for invalid parameters. A retry with the same input fails again. */
const invalidParams = -32602;

function outcomeOf(failure: McpFailure, { errors }: CallContext): CallOutcome {
  switch (failure.kind) {
    case 'no_answer':
      return outcomeWithoutAnswer(failure.result);
    case 'status': {
      const { answer, error } = failure;
      return failureOf(answer, { rules: errors, ...(error === null ? {} : { reason: reasonOf(error) }) });
    }
    case 'error': {
      const reason = reasonOf(failure);
      const message = reason.message ?? `The MCP server answered with error ${failure.code}.`;
      const said = { message, ...noUpstreamAnswer, upstreamStatus: 200, upstreamCode: reason.code };
      const kind = failure.code === invalidParams ? 'upstream_rejected' : 'upstream_failed';
      return { kind, ...said, upstreamMessage: reason.message };
    }
    case 'protocol':
      return {
        kind: 'upstream_failed',
        ...noUpstreamAnswer,
        upstreamStatus: 200,
        isUnusable: true,
        message: `The MCP server gave an invalid response: ${failure.message}`,
      };
  }
}

function reasonOf({ code, message }: McpError): Reason {
  return { code: String(code), message: boundedMessage(message) };
}

/** Returns the structured content of a result. Without it, returns the joined texts and any other content. */
async function readResult(
  result: Readonly<Record<string, unknown>>,
  { reader, owner, maxOutputBytes, signal }: CallContext & { readonly signal: AbortSignal },
): Promise<CallOutcome> {
  const blocks = (Array.isArray(result.content) ? result.content : []).filter(isJsonObject);
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  const text = texts.join('\n');
  if (result.isError === true) {
    const upstreamMessage = boundedMessage(text);
    const message = upstreamMessage ?? 'The tool failed and gave no reason.';
    return { kind: 'upstream_failed', ...noUpstreamAnswer, message, upstreamStatus: 200, upstreamMessage };
  }
  const { structuredContent } = result;
  const others = blocks.filter(({ type }) => type !== 'text');
  const isStructured = isJsonObject(structuredContent);
  const output = isStructured ? structuredContent : { text, content: others };
  const contents = isStructured && others.length > 0 ? { contents: boundContents(others) } : {};
  const size = jsonBytes(output);
  if (size === null || size > maxOutputBytes) {
    const message = `The output must be at most ${maxOutputBytes} bytes; received more.`;
    return { kind: 'failed', message, isUnusable: true };
  }
  if (size <= outputPartLimits.inlineBytes) return { kind: 'returned', output, ...contents };
  const read = await reader.readOutput(Buffer.from(JSON.stringify(output)), { owner, maxOutputBytes, signal });
  return read.kind === 'returned' ? { ...read, ...contents } : read;
}

/** Replaces each content beside a structured output that does not fit by a note, and those beyond the limit together by one note. */
export function boundContents(
  blocks: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, unknown>>[] {
  let left: number = outputPartLimits.inlineBytes;
  const most = outputPartLimits.contents;
  const bounded = blocks.slice(0, most).map((block) => {
    const size = jsonBytes(block) ?? Number.POSITIVE_INFINITY;
    if (size > left) return note(`A content of ${size} bytes was left out because of its size.`);
    left -= size;
    return block;
  });
  const others = blocks.length - bounded.length;
  if (others === 0) return bounded;
  return [...bounded, note(`Further contents were left out: ${others}. At most ${most} contents are passed on.`)];
}

function note(text: string) {
  return { type: 'text', text };
}

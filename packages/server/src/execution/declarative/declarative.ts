import type { RequestTemplate, ResponseMapping } from '@quartermaster/plugin-kit';
import type { Broker, EgressPolicy, EgressResult } from '../../egress/broker.ts';
import type { Owner } from '../../kernel/concurrency/fair-queue.ts';
import type { AnswerReader, PreparedResponse } from './answer-reader.ts';
import { type CallOutcome, compileAnswerRules } from './interpret-answer.ts';
import { compileRequest, type RenderRequest } from './request.ts';
import { placeholdersOf } from './template.ts';

/** A declarative call, ready to run: everything that can be done once is done. */
export interface PreparedCall {
  readonly render: RenderRequest;
  readonly response: PreparedResponse;
}

/** Ways in which an outbound call can be the reason of a failed run. */
export type CallFailure = Exclude<CallOutcome, { kind: 'returned' }>;

/** What a call is made with, besides its input. */
export interface CallContext {
  readonly broker: Broker;
  readonly reader: AnswerReader;
  readonly owner: Owner;
  readonly policy: EgressPolicy;
  /** Whether the bundle takes credentials at all: without, a 401 is the upstream's failure, not theirs. */
  readonly takesCredentials: boolean;
  /** JSON of the output. */
  readonly maxOutputBytes: number;
}

/**
 * Compiles a request and what is made of its answer.
 * @param parameters names the placeholders may have; absent: any
 * @throws Error whose message names the member that cannot be used
 */
export function prepareCall(
  request: RequestTemplate,
  response: ResponseMapping = {},
  parameters?: ReadonlySet<string>,
): PreparedCall {
  const unknown = placeholdersOf({ ...request, inject: [], styles: {} }).find(
    (name) => parameters !== undefined && !parameters.has(name),
  );
  if (unknown !== undefined) throw new Error(`request: there is no input parameter ${JSON.stringify(unknown)}`);
  return {
    render: compileRequest(request),
    response: { ...compileAnswerRules(response), source: response },
  };
}

/** Renders the request, sends it through the broker and makes an outcome of the answer. */
export async function runCall(
  call: PreparedCall,
  input: Record<string, unknown>,
  context: CallContext & { readonly signal: AbortSignal },
): Promise<CallOutcome> {
  const rendered = call.render(input);
  if ('rejected' in rendered) return { kind: 'input_rejected', message: rendered.rejected };
  const result = await context.broker.send(rendered.request, context.policy, context.signal);
  if (result.kind !== 'response') return outcomeWithoutAnswer(result);
  return await context.reader.read(call.response, result, { input, ...context });
}

type Answer = Extract<EgressResult, { kind: 'response' }>;

/** What the broker could not do, as an outcome. */
export function outcomeWithoutAnswer(result: Exclude<EgressResult, Answer>): CallFailure {
  if (result.kind === 'timed_out') return { kind: 'timed_out', limitMs: result.limitMs };
  if (result.kind === 'refused') return { kind: 'egress_refused', message: result.message };
  if (result.kind === 'credentials_rejected') {
    return { kind: 'credentials_rejected', upstreamStatus: result.status, excerpt: result.excerpt };
  }
  return { kind: 'upstream_failed', message: result.message, upstreamStatus: null, excerpt: null };
}

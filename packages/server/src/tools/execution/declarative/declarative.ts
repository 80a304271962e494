import type { RequestTemplate, ResponseMapping } from '@quartermaster/plugin-kit';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { EgressResult } from '../../../platform/outbound.ts';
import type { Broker, EgressPolicy } from '../../egress/broker.ts';
import { unusedAnswerOf, withUnusedAnswer } from '../unused-answers/unused-answer.ts';
import { compileErrorRules, type ErrorRules } from '../upstream-answers/error-rules.ts';
import { failureOf, failureOfStatus, noUpstreamAnswer } from '../upstream-answers/upstream-failure.ts';
import type { AnswerReader, PreparedResponse } from './answer-reader.ts';
import { type CallFailure, type CallOutcome, compileAnswerRules } from './interpret-answer.ts';
import { compileRequest, type RenderRequest } from './request.ts';
import { placeholdersOf } from './template.ts';

/** A compiled declarative call. */
export interface PreparedCall {
  readonly render: RenderRequest;
  readonly response: PreparedResponse;
}

/** The dependencies of a call, in addition to its input. */
export interface CallContext {
  readonly broker: Broker;
  readonly reader: AnswerReader;
  readonly owner: Owner;
  readonly policy: EgressPolicy;
  /** The maximum size of the output as JSON, in bytes. */
  readonly maxOutputBytes: number;
  /** The `errors` of the bundle, for calls without a mapping of their own. */
  readonly errors: ErrorRules;
}

/**
 * Compiles a request and the mapping of its answer.
 * @param parameters names that placeholders may have; without it every name is allowed
 * @throws Error whose message names the invalid member
 */
export function prepareCall(
  request: RequestTemplate,
  response: ResponseMapping = {},
  parameters?: ReadonlySet<string>,
): PreparedCall {
  const unknown = placeholdersOf({ ...request, inject: [], styles: {} }).find(
    (name) => parameters !== undefined && !parameters.has(name),
  );
  if (unknown !== undefined) throw new Error(`request: the input schema has no parameter ${JSON.stringify(unknown)}`);
  return {
    render: compileRequest(request),
    response: { ...compileAnswerRules(response), source: response },
  };
}

/** Renders the request, sends it through the broker and maps the answer to an outcome. */
export async function runCall(
  call: PreparedCall,
  input: Record<string, unknown>,
  context: CallContext & { readonly signal: AbortSignal },
): Promise<CallOutcome> {
  const rendered = call.render(input);
  if ('rejected' in rendered) return { kind: 'input_rejected', message: rendered.rejected };
  const result = await context.broker.send(rendered.request, context.policy, context.signal);
  if (result.kind !== 'response') return outcomeWithoutAnswer(result);
  const outcome = await context.reader.read(call.response, result, { input, ...context });
  return withUnusedAnswer(outcome, unusedAnswerOf(result));
}

type Answer = Extract<EgressResult, { kind: 'response' }>;

const noRules = compileErrorRules();

/** Converts an egress result without an answer to an outcome. */
export function outcomeWithoutAnswer(result: Exclude<EgressResult, Answer>): CallFailure {
  if (result.kind === 'timed_out') return { kind: 'timed_out', limitMs: result.limitMs };
  if (result.kind === 'refused') return { kind: 'egress_refused', message: result.message };
  if (result.kind === 'credentials_rejected') {
    const { status, excerpt } = result;
    return failureOf({ status, headers: {}, body: Buffer.from(excerpt) }, { rules: noRules, blamesCredentials: true });
  }
  if (result.kind === 'unreachable' && result.status !== undefined) {
    return failureOfStatus(result.status, result.message, result.retryAfter);
  }
  return { kind: 'upstream_failed', ...noUpstreamAnswer, message: result.message };
}

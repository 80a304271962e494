import type { RequestTemplate, ResponseMapping } from '@quartermaster/plugin-kit';
import { jsonSize } from '../../kernel/json-size.ts';
import type { Broker, EgressPolicy, EgressResult } from '../egress/broker.ts';
import type { Outcome } from '../outcome.ts';
import { type BodyFormat, decodeText, readBody } from './body.ts';
import { ExpressionTooExpensive } from './expression-budget.ts';
import { compileMapping, type Evaluate, isTrue, type Mapping, type MappingScope } from './mapping.ts';
import { compileRequest, type RenderRequest } from './request.ts';
import { placeholdersOf } from './template.ts';

/** A declarative call, ready to run: everything that can be done once is done. */
export interface PreparedCall {
  readonly render: RenderRequest;
  readonly format: BodyFormat;
  readonly mapping: Mapping;
  readonly credentialsRejected: ReadonlySet<number>;
}

/** How a declarative call ended; the output is not yet checked against its schema. */
export type CallOutcome =
  | { readonly kind: 'returned'; readonly output: unknown }
  | Exclude<Outcome, { kind: 'succeeded' | 'crashed' | 'out_of_memory' | 'queue_full' }>;

/** Ways in which an outbound call can be the reason of a failed run. */
export type CallFailure = Exclude<CallOutcome, { kind: 'returned' }>;

/** What a call is made with, besides its input. */
export interface CallContext {
  readonly broker: Broker;
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
    format: response.format ?? 'json',
    mapping: compileMapping(response),
    credentialsRejected: new Set(response.credentials_rejected ?? [401]),
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
  const read = readBody(result.body, result.headers['content-type'], call.format);
  const scope: MappingScope = {
    status: result.status,
    headers: result.headers,
    body: 'wrong' in read ? null : read.body,
    input,
  };
  try {
    const failure = judgeAnswer(call, scope, { result, takesCredentials: context.takesCredentials });
    if (failure !== null) return failure;
    if ('wrong' in read) return upstreamFailed(result, read.wrong);
    return mapOutput(call.mapping.output, scope, context.maxOutputBytes);
  } catch (error) {
    if (error instanceof ExpressionTooExpensive) return { kind: 'failed', message: error.message };
    throw error;
  }
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

/** Whether a failed answer says, by what a call knows of its API, that the credentials are bad. */
export function blamesCredentials(call: PreparedCall, result: Answer): boolean {
  if (call.credentialsRejected.has(result.status)) return true;
  const read = readBody(result.body, result.headers['content-type'], call.format);
  const { status, headers } = result;
  const scope = { status, headers, body: 'wrong' in read ? null : read.body, input: {} };
  try {
    return evaluate(call.mapping.credentialsRejectedWhen, scope) !== false;
  } catch (error) {
    if (error instanceof ExpressionTooExpensive) return false;
    throw error;
  }
}

function judgeAnswer(
  call: PreparedCall,
  scope: MappingScope,
  { result, takesCredentials }: { result: Answer; takesCredentials: boolean },
): CallOutcome | null {
  const isSuccess = result.status >= 200 && result.status < 300;
  const blamed = evaluate(call.mapping.credentialsRejectedWhen, scope);
  const failed = isSuccess ? evaluate(call.mapping.failedWhen, scope) : true;
  if (takesCredentials && (blamed !== false || (failed !== false && call.credentialsRejected.has(result.status)))) {
    return { kind: 'credentials_rejected', upstreamStatus: result.status, excerpt: excerptOf(result) };
  }
  if (failed === false) return null;
  return upstreamFailed(
    result,
    typeof failed === 'string' ? failed.slice(0, 500) : `the upstream answered with status ${result.status}`,
  );
}

/** False, or the true value. An expression that cannot be evaluated (a page where JSON was due) says nothing. */
function evaluate(expression: Evaluate | null, scope: MappingScope): false | unknown {
  const evaluated = expression?.(scope);
  return evaluated !== undefined && 'value' in evaluated && isTrue(evaluated.value) ? evaluated.value : false;
}

function mapOutput(expression: Evaluate | null, scope: MappingScope, maxBytes: number): CallOutcome {
  const evaluated = expression === null ? { value: scope.body } : expression(scope);
  if ('wrong' in evaluated) return { kind: 'failed', message: evaluated.wrong };
  // An expression may give the same array many times over, so its text may be much larger than what it takes in memory.
  if (jsonSize(evaluated.value, maxBytes) > maxBytes) {
    return { kind: 'failed', message: `the output is larger than ${maxBytes} bytes` };
  }
  return { kind: 'returned', output: evaluated.value ?? null };
}

function upstreamFailed(result: Answer, message: string): CallOutcome {
  return { kind: 'upstream_failed', message, upstreamStatus: result.status, excerpt: excerptOf(result) };
}

const excerptBytes = 1024;

/** The beginning of an answer, for whoever has to understand a failure; scrubbed by the broker already. */
export function excerptOf(result: Pick<Answer, 'body' | 'headers'>): string | null {
  const text = decodeText(result.body.subarray(0, excerptBytes), result.headers['content-type']);
  return text === '' ? null : text.replace(/\uFFFD$/, '');
}

import type { ResponseMapping } from '@quartermaster/plugin-kit';
import { jsonSize } from '../../kernel/json/json-size.ts';
import { hasFewParts, maxOutputParts, tooManyParts } from '../json-bounds.ts';
import type { Outcome } from '../outcome.ts';
import { type BodyFormat, decodeText, readBody } from './body.ts';
import { ExpressionTooExpensive } from './expression-budget.ts';
import { compileMapping, type Evaluate, isTrue, type Mapping, type MappingScope } from './mapping.ts';

/** How a declarative call ended; the output is not yet checked against its schema. */
export type CallOutcome =
  | { readonly kind: 'returned'; readonly output: unknown }
  | Exclude<Outcome, { kind: 'succeeded' | 'crashed' | 'out_of_memory' | 'queue_full' }>;

/** The `response` of a call, compiled. */
export interface AnswerRules {
  readonly format: BodyFormat;
  readonly mapping: Mapping;
  readonly credentialsRejected: ReadonlySet<number>;
}

/** What an upstream answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface AnswerContext {
  readonly input: Record<string, unknown>;
  /** Whether the bundle takes credentials at all: without, a 401 is the upstream's failure, not theirs. */
  readonly takesCredentials: boolean;
  /** JSON of the output. */
  readonly maxOutputBytes: number;
}

/** Bytes of an answer that are read on the event loop: parsing ten times as many takes up to 200 ms. */
export const maxReadAtOnce = 64 * 1024;

/** @throws Error whose message names the expression that does not parse */
export function compileAnswerRules(response: ResponseMapping): AnswerRules {
  return {
    format: response.format ?? 'json',
    mapping: compileMapping(response),
    credentialsRejected: new Set(response.credentials_rejected ?? [401]),
  };
}

/** Parses an answer and makes an outcome of it. Its work grows with the answer: see {@link maxReadAtOnce}. */
export function interpretAnswer(call: AnswerRules, result: Answer, context: AnswerContext): CallOutcome {
  const { input, takesCredentials, maxOutputBytes } = context;
  const read = readBody(result.body, result.headers['content-type'], call.format);
  const scope: MappingScope = {
    status: result.status,
    headers: result.headers,
    body: 'wrong' in read ? null : read.body,
    input,
  };
  try {
    const failure = judgeAnswer(call, scope, { result, takesCredentials });
    if (failure !== null) return failure;
    if ('wrong' in read) return upstreamFailed(result, read.wrong);
    return mapOutput(call.mapping.output, scope, maxOutputBytes);
  } catch (error) {
    if (error instanceof ExpressionTooExpensive) return { kind: 'failed', message: error.message };
    throw error;
  }
}

/** Whether a failed answer says, by what a call knows of its API, that the credentials are bad. A long one is not read. */
export function blamesCredentials(call: AnswerRules, result: Answer): boolean {
  if (call.credentialsRejected.has(result.status)) return true;
  if (result.body.length > maxReadAtOnce) return false;
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
  call: AnswerRules,
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
  // Before it leaves the thread: copying it to the event loop visits every part.
  if (!hasFewParts(evaluated.value, maxOutputParts)) return { kind: 'failed', message: tooManyParts };
  return { kind: 'returned', output: evaluated.value ?? null };
}

function upstreamFailed(result: Answer, message: string): CallOutcome {
  return { kind: 'upstream_failed', message, upstreamStatus: result.status, excerpt: excerptOf(result) };
}

const excerptBytes = 1024;

/** The beginning of an answer, to explain a failure. The broker has already redacted it. */
export function excerptOf(result: Pick<Answer, 'body' | 'headers'>): string | null {
  const text = decodeText(result.body.subarray(0, excerptBytes), result.headers['content-type']);
  return text === '' ? null : text.replace(/\uFFFD$/, '');
}

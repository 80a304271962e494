import type { ErrorDetail } from '@quartermaster/contract';
import type { ResponseMapping } from '@quartermaster/plugin-kit';
import { jsonSize } from '../../../platform/json/json-size.ts';
import type { Mismatches } from '../expressions/bounded-interpreter.ts';
import {
  createExpressionBudget,
  type ExpressionBudget,
  ExpressionTooExpensive,
  mostSteps,
  mostStepsAtOnce,
} from '../expressions/expression-budget.ts';
import {
  compileMapping,
  type Evaluate,
  type Evaluated,
  isTrue,
  type Mapping,
  type MappingScope,
} from '../expressions/mapping.ts';
import { hasFewParts, maxOutputParts } from '../json-bounds.ts';
import { outputPartLimits } from '../output-parts/output-part.ts';
import { splitOutput } from '../output-parts/split-output.ts';
import type { RawOutcome } from '../run.ts';
import { type Answer, excerptOf } from '../upstream-answers/answer.ts';
import { type BodyFormat, readBody } from '../upstream-answers/body.ts';
import { compileErrorRules, type ErrorRules } from '../upstream-answers/error-rules.ts';
import { boundedMessage } from '../upstream-answers/read-reason.ts';
import { failureOf, noUpstreamAnswer, reasonOf } from '../upstream-answers/upstream-failure.ts';

/** How a declarative call ended. The output is not yet validated against its schema. */
export type CallOutcome = Exclude<RawOutcome, { kind: 'crashed' | 'out_of_memory' | 'queue_full' }>;

/** The ways in which a call can cause a run to fail. */
export type CallFailure = Exclude<CallOutcome, { kind: 'returned' }>;

/** The compiled `response` of a call. */
export interface AnswerRules {
  readonly format: BodyFormat;
  readonly mapping: Mapping;
  readonly credentialsRejected: ReadonlySet<number>;
  readonly errors: ErrorRules;
}

export interface AnswerContext {
  readonly input: Record<string, unknown>;
  /** The maximum size of the output as JSON, in bytes. */
  readonly maxOutputBytes: number;
  /** Whether a thread reads the answer. Otherwise, work that would block the event loop ends with {@link leftToThread}. */
  readonly isInThread?: boolean;
}

/** The outcome of an answer whose output or expressions are too large for the event loop. A thread then reads the answer. */
export const leftToThread: CallOutcome = { kind: 'failed', message: 'The answer is read in a thread.' };

/** The longest answer, in bytes, that is parsed on the event loop. Parsing ten times as much takes up to 200 ms. */
export const maxReadAtOnce = 64 * 1024;

/** @throws Error whose message names the expression that does not parse */
export function compileAnswerRules(response: ResponseMapping): AnswerRules {
  return {
    format: response.format ?? 'json',
    mapping: compileMapping(response),
    credentialsRejected: new Set(response.credentials_rejected ?? [401]),
    errors: compileErrorRules(response.errors),
  };
}

/** Parses an answer and maps it to an outcome. The work grows with the answer: see {@link maxReadAtOnce}. */
export function interpretAnswer(call: AnswerRules, result: Answer, context: AnswerContext): CallOutcome {
  const { input, isInThread = false } = context;
  const read = readBody(result.body, result.headers['content-type'], call.format);
  const scope: MappingScope = {
    status: result.status,
    headers: result.headers,
    body: 'wrong' in read ? null : read.body,
    input,
  };
  const budget = createExpressionBudget(isInThread ? mostSteps : mostStepsAtOnce);
  try {
    const failure = judgeAnswer(call, scope, { result, budget });
    if (failure !== null) return failure;
    if ('wrong' in read) return { ...unusableAnswer(result, read.wrong), isUnusable };
    return mapOutput(call.mapping.output, scope, { ...context, budget });
  } catch (error) {
    if (!(error instanceof ExpressionTooExpensive)) throw error;
    return isInThread ? { kind: 'failed', message: error.message, isUnusable } : leftToThread;
  }
}

/**
 * Whether a failed answer means that the credentials are wrong, by the rules of the call. An answer over {@link
 * maxReadAtOnce}, or one whose expression takes more than {@link mostStepsAtOnce} steps, is judged by its status only.
 */
export function blamesCredentials(call: AnswerRules, result: Answer): boolean {
  if (call.credentialsRejected.has(result.status)) return true;
  if (result.body.length > maxReadAtOnce) return false;
  const read = readBody(result.body, result.headers['content-type'], call.format);
  const { status, headers } = result;
  const scope = { status, headers, body: 'wrong' in read ? null : read.body, input: {} };
  try {
    return evaluate(call.mapping.credentialsRejectedWhen, scope, createExpressionBudget(mostStepsAtOnce)) !== false;
  } catch (error) {
    if (error instanceof ExpressionTooExpensive) return false;
    throw error;
  }
}

function judgeAnswer(
  call: AnswerRules,
  scope: MappingScope,
  { result, budget }: { readonly result: Answer; readonly budget: ExpressionBudget },
): CallOutcome | null {
  const isSuccess = result.status >= 200 && result.status < 300;
  const blamed = evaluate(call.mapping.credentialsRejectedWhen, scope, budget);
  const failed = isSuccess ? evaluate(call.mapping.failedWhen, scope, budget) : true;
  const blamesCredentials = blamed !== false || (failed !== false && call.credentialsRejected.has(result.status));
  if (!blamesCredentials && failed === false) return null;
  const toValue = (expression: Evaluate) => evaluate(expression, scope, budget);
  const found = reasonOf({ answer: result, scope, evaluate: toValue }, call.errors);
  const reason = typeof failed === 'string' ? { ...found, message: boundedMessage(failed) } : found;
  return failureOf(result, { rules: call.errors, reason, blamesCredentials });
}

/**
 * Returns the value of the expression when it is true, otherwise false. An expression that cannot be evaluated counts as
 * false, for example when an HTML page came instead of JSON.
 */
function evaluate(expression: Evaluate | null, scope: MappingScope, budget: ExpressionBudget): false | unknown {
  const evaluated = expression?.(scope, budget);
  return evaluated !== undefined && 'value' in evaluated && isTrue(evaluated.value) ? evaluated.value : false;
}

function mapOutput(
  expression: Evaluate | null,
  scope: MappingScope,
  context: AnswerContext & { readonly budget: ExpressionBudget },
): CallOutcome {
  const evaluated: Evaluated =
    expression === null ? { value: scope.body, mismatches: new Set() } : expression(scope, context.budget);
  if ('wrong' in evaluated) return { kind: 'failed', message: evaluated.wrong, isUnusable };
  const returned = { kind: 'returned', ...violationsOf(evaluated.mismatches) } as const;
  const { maxOutputBytes, isInThread = false } = context;
  const output = evaluated.value ?? null;
  const most = isInThread ? maxOutputBytes : Math.min(maxOutputBytes, outputPartLimits.inlineBytes);
  // An expression may return the same array many times, so its JSON may be much larger than the value in memory.
  const bytes = jsonSize(output, most);
  if (bytes > most && most < maxOutputBytes) return leftToThread;
  if (bytes > most) {
    return { kind: 'failed', message: `The output must be at most ${most} bytes; received more.`, isUnusable };
  }
  // Checked before the value leaves the thread: copying it to the event loop visits every part.
  if (bytes <= outputPartLimits.inlineBytes && hasFewParts(output, maxOutputParts)) {
    return { ...returned, output };
  }
  return isInThread ? { ...returned, ...splitOutput(output) } : leftToThread;
}

function violationsOf(mismatches: Mismatches): { violations?: ErrorDetail[] } {
  if (mismatches.size === 0) return {};
  const found = 'a value of another type, which gave null';
  return { violations: [...mismatches].map((name) => ({ path: '', found, expected: `what ${name} accepts` })) };
}

/** The answer came, and its size or form is the reason of the failure. */
const isUnusable = true;

function unusableAnswer(result: Answer, message: string): CallFailure {
  const { status } = result;
  return { kind: 'upstream_failed', ...noUpstreamAnswer, message, upstreamStatus: status, excerpt: excerptOf(result) };
}

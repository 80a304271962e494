import { readRetryAfter } from '../../../platform/retry-after.ts';
import { createExpressionBudget, ExpressionTooExpensive, mostStepsAtOnce } from '../expressions/expression-budget.ts';
import type { Evaluate, MappingScope } from '../expressions/mapping.ts';
import type { Outcome, UpstreamAnswer } from '../outcome.ts';
import { type Answer, excerptOf } from './answer.ts';
import { readBody } from './body.ts';
import type { ErrorRules } from './error-rules.ts';
import {
  boundedMessage,
  findReason,
  findXmlReason,
  lineOf,
  noReason,
  type Reason,
  reasonLimits,
} from './read-reason.ts';

/** The ways in which an answer of a third party can cause a run to fail. */
export type UpstreamFailure = Extract<
  Outcome,
  { kind: 'upstream_failed' | 'upstream_rejected' | 'upstream_rate_limited' | 'credentials_rejected' }
>;

/** The longest answer, in bytes, whose reason is read on the event loop outside of a mapping. */
const maxReadBytes = 64 * 1024;

/** The longest wait that `Retry-After` of a third party passes on, in seconds. A longer one is cut to this. */
export const maxRetryAfterSeconds = 86_400;

export const noUpstreamAnswer: UpstreamAnswer = {
  upstreamStatus: null,
  upstreamCode: null,
  upstreamMessage: null,
  excerpt: null,
};

export interface FailureOptions {
  readonly rules: ErrorRules;
  /** The reason in the answer, where a mapping has read it already. */
  readonly reason?: Reason;
  /** Whether the answer rejects the credentials, according to the manifest. Default: status 401. */
  readonly blamesCredentials?: boolean;
}

/**
 * Classifies an error answer by its status. 408 and 5xx are failures of the third party, 429 is its rate limit, and every other
 * 4xx rejects the request. Source: docs/contract.md "Bundles and plugins".
 */
export function failureOf(answer: Answer, options: FailureOptions): UpstreamFailure {
  const { status } = answer;
  const { rules, blamesCredentials = status === 401 } = options;
  const reason = options.reason ?? readReason(answer, rules);
  const said: UpstreamAnswer = {
    upstreamStatus: status,
    upstreamCode: reason.code,
    upstreamMessage: reason.message,
    excerpt: excerptOf(answer),
  };
  const message = rules.statuses.get(status) ?? reason.message ?? `The API answered with status ${status}.`;
  if (blamesCredentials) return { kind: 'credentials_rejected', ...said, message };
  return classify(status, { ...said, message }, answer.headers);
}

/** Classifies a status whose answer is not known, such as that of a token endpoint. */
export function failureOfStatus(status: number, message: string, retryAfter?: string): UpstreamFailure {
  const said = { ...noUpstreamAnswer, upstreamStatus: status, message };
  return classify(status, said, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
}

function classify(
  status: number,
  said: UpstreamAnswer & { readonly message: string },
  headers: Readonly<Record<string, string>>,
): UpstreamFailure {
  if (status === 429) {
    return { kind: 'upstream_rate_limited', ...said, retryAfterSeconds: retryAfterSeconds(headers) };
  }
  const isRejection = status >= 400 && status < 500 && status !== 408;
  return { kind: isRejection ? 'upstream_rejected' : 'upstream_failed', ...said };
}

/**
 * Whether the same request may succeed later although the status rejects it. 425 asks for a repetition (RFC 8470 §5.2). A conflict
 * (409) and a lock (423) need another action first (RFC 9110 §15.5.10, RFC 4918 §11.3).
 */
export function isTemporary(status: number | null): boolean {
  return status === 425;
}

/** A date counts from the `Date` of the answer, because the same clock wrote both. */
function retryAfterSeconds({ 'retry-after': value, date = '' }: Readonly<Record<string, string>>): number | null {
  const now = Date.parse(date);
  const ms = readRetryAfter(value, Number.isNaN(now) ? undefined : now);
  return ms === null ? null : Math.min(maxRetryAfterSeconds, Math.ceil(ms / 1000));
}

/** The data of an error answer in which the reason is searched. */
export interface ReasonSource {
  readonly answer: Answer;
  readonly scope: MappingScope;
  /** Returns the value of an expression of the manifest; null when it has none. May throw ExpressionTooExpensive. */
  readonly evaluate: (expression: Evaluate) => unknown;
}

/** Finds the reason at the places that the manifest names, otherwise at the usual places. */
export function reasonOf({ answer, scope, evaluate }: ReasonSource, { message, code }: ErrorRules): Reason {
  const usual = usualReason(answer, scope.body);
  return {
    message: (message === null ? null : boundedMessage(evaluate(message))) ?? usual.message,
    code: (code === null ? null : lineOf(evaluate(code), reasonLimits.code)) ?? usual.code,
  };
}

/** Reads the reason of an answer without a mapping. Returns no reason for a long answer or a costly expression. */
function readReason(answer: Answer, rules: ErrorRules): Reason {
  if (answer.body.length > maxReadBytes) return noReason;
  const read = readBody(answer.body, answer.headers['content-type'], 'json');
  const body = 'wrong' in read ? null : read.body;
  const { status, headers } = answer;
  const scope: MappingScope = { status, headers, body, input: {} };
  const budget = createExpressionBudget(mostStepsAtOnce);
  const evaluate = (expression: Evaluate) => {
    const evaluated = expression(scope, budget);
    return 'value' in evaluated ? evaluated.value : null;
  };
  try {
    return reasonOf({ answer, scope, evaluate }, rules);
  } catch (error) {
    if (error instanceof ExpressionTooExpensive) return usualReason(answer, body);
    throw error;
  }
}

/** @param parsed the body as the mapping parsed it, which may be text, base64 or XML although the error is JSON */
function usualReason(answer: Answer, parsed: unknown): Reason {
  if (typeof parsed === 'object' && parsed !== null && !('children' in parsed)) {
    return findReason(parsed, answer.status);
  }
  if (answer.body.length > maxReadBytes) return noReason;
  const type = answer.headers['content-type'];
  const text = readBody(answer.body, type, 'text');
  const start = 'body' in text && typeof text.body === 'string' ? text.body.trimStart() : '';
  if (/^[[{"]/.test(start)) {
    const json = readBody(answer.body, type, 'json');
    if ('body' in json) return findReason(json.body, answer.status);
  }
  if (start.startsWith('<')) {
    const xml = isHtml(start, type) ? { wrong: 'HTML' } : readBody(answer.body, type, 'xml');
    return 'body' in xml ? findXmlReason(xml.body as Parameters<typeof findXmlReason>[0]) : noReason; // `xml` gives a tree
  }
  const isReadable = type === undefined || /^(?:text\/(?!html\b)|application\/(?:[a-z.-]+\+)?json\b)/i.test(type);
  return isReadable ? { code: null, message: boundedMessage(start) } : noReason;
}

/** HTML pages are ignored, because they add no information to the status. */
function isHtml(start: string, contentType: string | undefined): boolean {
  return /^text\/html\b/i.test(contentType ?? '') || /^<(?:!doctype\s+html|html)\b/i.test(start);
}

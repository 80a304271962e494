import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import type { EgressRequest, EgressResult } from '../../platform/outbound.ts';
import type { Broker } from '../egress/broker.ts';
import { outcomeWithoutAnswer } from './declarative/declarative.ts';
import type { CallFailure } from './declarative/interpret-answer.ts';
import type { RunPolicy } from './run-policy.ts';
import { holdsTokens, type UnusedAnswer, unusedAnswerOf } from './unused-answers/unused-answer.ts';
import type { Answer } from './upstream-answers/answer.ts';
import { decodeText, isText } from './upstream-answers/body.ts';
import type { ErrorRules } from './upstream-answers/error-rules.ts';
import { failureOf } from './upstream-answers/upstream-failure.ts';

/** The `context.fetch` of one run of a handler. */
export interface HandlerFetch {
  fetch(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse>;
  /** The failure of the last call, if it failed. It is the most likely cause when the handler throws afterwards. */
  blame(): CallFailure | null;
  /** The last successful answer that holds no tokens, if there is one. */
  lastAnswer(): UnusedAnswer | undefined;
}

export interface BlameRules {
  readonly errors: ErrorRules;
  /** Whether an answer means that the credentials are wrong. */
  readonly blamesCredentials: (answer: Answer) => boolean;
}

type Failure = Error & { readonly code: string };

export function createHandlerFetch(broker: Broker, policy: RunPolicy, rules: BlameRules): HandlerFetch {
  let requests = 0;
  let last: EgressResult | null = null;
  let lastAnswer: UnusedAnswer | undefined;

  async function fetch(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    if (requests >= policy.maxRequests) {
      throw failure('too_many_requests', `A run may send at most ${policy.maxRequests} requests.`);
    }
    requests += 1;
    const result = await broker.send(toEgress(request), policy.egress, signal);
    last = result;
    const answer = unusedAnswerOf(result);
    if (answer !== undefined && !holdsTokens(answer)) lastAnswer = answer;
    else if (lastAnswer !== undefined) lastAnswer = { ...lastAnswer, isEarlier: true };
    if (result.kind === 'timed_out') throw failure('timed_out', `The API did not respond within ${result.limitMs} ms.`);
    if (result.kind === 'credentials_rejected') throw failure(result.kind, 'The API rejected the credentials.');
    if (result.kind !== 'response') throw failure(result.kind, result.message);
    const { status, headers, body } = result;
    const type = headers['content-type'];
    if (request.binary !== true || isText(body, type)) return { status, headers, text: decodeText(body, type) };
    return { status, headers, text: '', base64: body.toString('base64') };
  }

  return {
    fetch,
    blame: () => (last === null ? null : withoutCredential(outcomeOf(last, rules), policy)),
    lastAnswer: () => lastAnswer,
  };
}

function outcomeOf(result: EgressResult, rules: BlameRules): CallFailure | null {
  if (result.kind !== 'response') return outcomeWithoutAnswer(result);
  const blamesCredentials = rules.blamesCredentials(result);
  if (result.status < 400 && !blamesCredentials) return null;
  return failureOf(result, { rules: rules.errors, blamesCredentials });
}

/** Explains a rejection when the handler held placeholders and sent none of them. */
function withoutCredential(failure: CallFailure | null, { lent, egress }: RunPolicy): CallFailure | null {
  if (failure === null || lent === undefined || lent.isUsed() || egress.placeholders?.secrets.size === 0)
    return failure;
  if (!('upstreamStatus' in failure) || ![401, 403].includes(failure.upstreamStatus ?? 0)) return failure;
  const reason =
    'The plugin sent no credential. It may compute with the secret, for a signature (HMAC) or a token (JWT), which is not possible: it holds a placeholder';
  return { ...failure, message: `${reason}. ${failure.message}` };
}

export function toEgress(request: OutboundRequest): EgressRequest {
  const { body, base64 } = request;
  const isText = typeof body === 'string';
  const headers = lowerCased(request.headers ?? {});
  if (body !== undefined && !('content-type' in headers)) {
    headers['content-type'] = isText ? 'text/plain; charset=utf-8' : 'application/json';
  }
  const query = Object.entries(request.query ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item) => [name, String(item)] as const),
  );
  return {
    method: request.method ?? 'GET',
    url: request.url,
    query,
    headers,
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    ...(base64 === undefined ? {} : { body: Buffer.from(base64, 'base64') }),
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function failure(code: string, message: string): Failure {
  return Object.assign(new Error(message), { code });
}

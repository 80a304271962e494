import type { EgressRequest, EgressResult } from '../../../platform/outbound.ts';
import type { Broker, EgressPolicy } from '../broker.ts';
import type { Call } from '../call.ts';
import { noSecrets, type Redactor } from '../redact/redactor.ts';
import { type Injected, nothingInjected } from './inject.ts';
import { requestToken } from './request-token.ts';
import { type TokenNeed, tokenHeader } from './token-need.ts';
import type { TokenInUse, Tokens } from './tokens.ts';

interface Authorisation {
  readonly request: EgressRequest;
  readonly policy: EgressPolicy;
  readonly injected: Injected;
  readonly redactor: Redactor;
  readonly call: Call;
  readonly tokens: Tokens;
  /** Sends the request with the injected credentials. */
  readonly follow: (injected: Injected) => Promise<EgressResult>;
  readonly send: Broker['send'];
}

const maxTokenAnswerBytes = 64 * 1024;
const tokenTimeoutMs = 15_000;
const never = new AbortController().signal;

/**
 * Sends a request with an access token. A cached token that is refused (401) is replaced by a new one, once. A 401 means that the
 * request had no effect.
 */
export async function authorise(call: Authorisation): Promise<EgressResult> {
  const { policy } = call;
  const first = await withToken(call, policy.wantsFreshToken ?? false);
  if ('failure' in first) return first.failure;
  if (!first.use.isOld || !isRefused(first.result, call.request)) return first.result;
  const need = needOf(call);
  call.tokens.forget(need, first.use.accessToken, policy.storedRefreshToken);
  const second = await withToken(call, false);
  return 'failure' in second ? second.failure : second.result;
}

/** Whether the origin that received the token refused it. A redirect to another origin drops the token. */
export function isRefused(result: EgressResult, { url }: EgressRequest): boolean {
  return (
    result.kind === 'response' && result.status === 401 && URL.parse(result.finalUrl)?.origin === URL.parse(url)?.origin
  );
}

type Sent = { readonly use: TokenInUse; readonly result: EgressResult } | { readonly failure: EgressResult };

async function withToken(call: Authorisation, wantsFresh: boolean): Promise<Sent> {
  const { injected, redactor, tokens, policy } = call;
  const need = needOf(call);
  const token = await untilEnded(
    call.call,
    tokens.get(need, (tokenRequest) => ask(tokenRequest, call), { wantsFresh, stored: policy.storedRefreshToken }),
  );
  if ('failure' in token) return token;
  const { accessToken, refreshToken } = token.use;
  redactor.learn?.(refreshToken === undefined ? [accessToken] : [accessToken, refreshToken]);
  const header = tokenHeader(need, token.use.accessToken);
  if (header === null) {
    return { failure: { kind: 'unreachable', message: 'the access token holds what no header can carry' } };
  }
  const result = await call.follow({ ...injected, headers: { ...injected.headers, ...header }, token: null });
  return { use: token.use, result };
}

function needOf({ injected }: Authorisation): TokenNeed {
  if (injected.token === null) throw new Error('only a request that needs a token is authorised');
  return injected.token;
}

/**
 * Requests a token under the egress rules of the bundle. The request continues after this caller ends, because others may wait for
 * it.
 */
async function ask(need: TokenNeed, { policy, redactor, send }: Authorisation) {
  if (need.refreshToken !== undefined) redactor.learn?.([need.refreshToken]);
  const { wantsFreshToken: _, ...rules } = policy;
  const tokenPolicy: EgressPolicy = {
    ...rules,
    credentials: new Map(),
    inject: [],
    injected: nothingInjected,
    // The answer is read unredacted; texts taken from it are redacted below.
    redactor: noSecrets,
    maxResponseBytes: maxTokenAnswerBytes,
    maxRedirects: 0,
    maxRetries: 0,
    timeoutMs: Math.min(policy.timeoutMs, tokenTimeoutMs),
  };
  const granted = await requestToken(need, (request) => send(request, tokenPolicy, never));
  if ('token' in granted || granted.failure.kind !== 'credentials_rejected') return granted;
  return { failure: { ...granted.failure, excerpt: redactor.text(granted.failure.excerpt) } };
}

/** Waits for the work, but no longer than the call lasts. */
async function untilEnded<T>(call: Call, work: Promise<T>): Promise<T | { readonly failure: EgressResult }> {
  const { promise, resolve } = Promise.withResolvers<{ failure: EgressResult }>();
  const forget = call.onEnd(() => resolve({ failure: { kind: 'unreachable', message: 'the call ended' } }));
  try {
    return await Promise.race([work, promise]);
  } finally {
    forget();
  }
}

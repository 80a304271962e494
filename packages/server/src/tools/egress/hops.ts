import type { Clock } from '../../platform/clock.ts';
import type { EgressRequest, EgressResult } from '../../platform/outbound.ts';
import { quoteText } from '../../platform/quote-text.ts';
import type { EgressPolicy } from './broker.ts';
import type { Call } from './call.ts';
import { timeCall, timeRefusal } from './call-timings.ts';
import { redactCharset } from './charset.ts';
import type { ConnectionPool, Connections } from './connections.ts';
import { decodeBody } from './decode.ts';
import { type AnswerHead, type Exchanged, exchange, type WireRequest, type WireResponse } from './exchange.ts';
import { codeOf, describeFailure } from './failures.ts';
import { isHeaderName, isHeaderValue, reservedHeaders } from './header-text.ts';
import { openLargeAnswer, receiveCompressed } from './large-answers.ts';
import { afterRedirect, leaksSecret, placeCredentials } from './placeholders/place-credentials.ts';
import type { Redactor } from './redact/redactor.ts';
import { isReading } from './retries.ts';
import { fillPath, type Injected } from './signing/inject.ts';
import { judgeTarget, type Target } from './target.ts';
import { type Hop, wireRequest, withQuery } from './wire-request.ts';

export interface HopRules {
  readonly overrides: ReadonlyMap<string, string>;
  readonly isAllowed: (address: string) => boolean;
  readonly connections: Connections;
  readonly userAgent: string;
  readonly injected: Injected;
  readonly call: Call;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

type Refused = Extract<EgressResult, { kind: 'refused' }>;

/** Sends a request and follows its redirects. Every hop is checked again; credentials go to the first origin only. */
export async function followHops(request: EgressRequest, policy: EgressPolicy, rules: HopRules): Promise<EgressResult> {
  const first = firstHop(request, rules);
  if ('kind' in first) return first;
  const home = first.url.origin;
  let hop: Hop = first;
  for (let redirects = 0; ; redirects += 1) {
    const judged = judgeTarget(hop.url, policy, rules);
    if ('refused' in judged) return refuseHop(hop, judged.refused, { policy, rules });
    const injected = hop.url.origin === home ? rules.injected : null;
    const filled = policy.placeholders === undefined ? hop : placeCredentials(hop, policy.placeholders);
    if ('refused' in filled) return refuseHop(hop, filled.refused, { policy, rules });
    const wire = wireRequest(filled, injected, { ...rules, dialOrigin: judged.target.dialOrigin });
    if ('refused' in wire) return { kind: 'refused', message: wire.refused };
    const exchanged = await sendHop(judged.target, wire, { policy, rules, onData: request.onData });
    if ('tooLarge' in exchanged) return tooLarge(policy);
    if ('failure' in exchanged) return describeFailure(exchanged.failure, rules.redactor, policy);
    const next = nextHop(hop, exchanged.response, judged.target);
    if (next === null) return await finish(exchanged.response, hop, { policy, redactor: rules.redactor });
    if (redirects >= policy.maxRedirects) {
      const message = `the upstream redirected more than ${policy.maxRedirects} times`;
      return { kind: 'unreachable', message, redirectOrigin: rules.redactor.text(next.url.origin) };
    }
    if (hop.url.protocol === 'https:' && next.url.protocol === 'http:') {
      return {
        kind: 'refused',
        message: 'a redirect from https to http is not followed; use an address that stays with https',
      };
    }
    if (policy.placeholders !== undefined && leaksSecret(next.url, policy.placeholders, rules.redactor)) {
      return {
        kind: 'refused',
        message: 'a redirect that holds a credential is not followed to a host that may not get it',
      };
    }
    hop = policy.placeholders === undefined ? next : afterRedirect(next, policy.placeholders);
  }
}

function refuseHop(hop: Hop, message: string, { policy, rules }: { policy: EgressPolicy; rules: HopRules }): Refused {
  timeRefusal(policy.trace, { host: rules.redactor.text(hop.url.host), method: hop.method });
  return { kind: 'refused', message: rules.redactor.text(message) };
}

function firstHop(
  request: EgressRequest,
  { injected, redactor }: Pick<HopRules, 'injected' | 'redactor'>,
): Hop | Refused {
  const refuse = (message: string): Refused => ({ kind: 'refused', message });
  const url = URL.parse(request.url);
  if (url === null) return refuse('the address of the request is not a URL');
  const filled = fillPath(url.pathname, injected.path);
  if ('missing' in filled) return refuse(`the credential ${JSON.stringify(filled.missing)} is needed in the path`);
  url.pathname = filled.pathname;
  url.hash = '';
  if (request.query !== undefined && request.query.length > 0) url.search = withQuery(url.search, request.query);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const lower = name.toLowerCase();
    if (!isHeaderName(name) || !isHeaderValue(value))
      return refuse(`the header ${quoteText(redactor.text(name))} cannot be sent`);
    if (reservedHeaders.has(lower)) return refuse(`the header ${quoteText(redactor.text(name))} may not be set`);
    headers[lower] = value;
  }
  return { url, method: request.method, headers, body: request.body };
}

async function sendHop(
  target: Target,
  request: WireRequest,
  { policy, rules, onData }: Pick<EgressRequest, 'onData'> & { policy: EgressPolicy; rules: HopRules },
): Promise<Exchanged> {
  const pool = rules.connections.poolFor(target.dialOrigin, target.trusted);
  const { call, redactor } = rules;
  const openOverflow = (head: AnswerHead) => openLargeAnswer(head, { policy, redactor });
  const limits = { call, maxBytes: policy.maxResponseBytes, onData, openOverflow };
  const opened = pool.opened();
  const sent = { host: target.url.host, method: request.method, maxBytes: policy.maxResponseBytes };
  const send = () => timeCall(policy.trace, sent, () => exchange(pool.dispatcher, request, limits));
  const exchanged = await send();
  return isStale(exchanged, request.method, { pool, opened }) ? await send() : exchanged;
}

/**
 * Whether a kept-alive connection was closed by the server before it answered. A read request is then sent once more.
 */
function isStale(exchanged: Exchanged, method: string, { pool, opened }: { pool: ConnectionPool; opened: number }) {
  if (!('failure' in exchanged) || !exchanged.failure.beforeAnswer || !isReading(method)) return false;
  const code = codeOf(exchanged.failure.error);
  return (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') && pool.opened() === opened;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** The target of a redirect, or null when the answer is not a redirect. */
function nextHop(hop: Hop, response: WireResponse, target: Target): Hop | null {
  const location = response.headers.location;
  if (!redirectStatuses.has(response.status) || location === undefined) return null;
  const url = URL.parse(location, hop.url);
  if (url === null) return null;
  const next = backToDeclared(url, target);
  next.hash = '';
  const toGet = (response.status === 303 && hop.method !== 'HEAD') || (response.status <= 302 && hop.method === 'POST');
  const headers = Object.entries(hop.headers).filter(
    ([name]) =>
      !(toGet && name.startsWith('content-')) && !(next.origin !== hop.url.origin && privateHeaders.has(name)),
  );
  return {
    url: next,
    method: toGet ? 'GET' : hop.method,
    headers: Object.fromEntries(headers),
    body: toGet ? undefined : hop.body,
  };
}

/** Headers for one origin. A redirect to another origin drops them. */
const privateHeaders = new Set(['authorization', 'cookie']);

/** Translates the URL of a server behind an override to the declared origin, which the policy knows. */
function backToDeclared(url: URL, target: Target): URL {
  if (!target.trusted || url.origin !== target.dialOrigin) return url;
  return new URL(`${url.pathname}${url.search}`, target.url.origin);
}

async function finish(
  response: WireResponse,
  hop: Hop,
  { policy, redactor }: { policy: EgressPolicy; redactor: Redactor },
): Promise<EgressResult> {
  const decoded = await decodeBody(response.body, response.headers['content-encoding'], policy.maxResponseBytes);
  if (decoded.kind === 'too_large') {
    await receiveCompressed(response, { policy, redactor });
    return tooLarge(policy);
  }
  if (decoded.kind === 'undecodable') {
    // The text is redacted before it is cut, because a truncated secret is not recognised.
    const encoding = quoteText(redactor.text(decoded.encoding));
    return { kind: 'unreachable', message: `the answer's encoding ${encoding} could not be undone` };
  }
  const { origin, pathname } = hop.url;
  const headers = redactor.deep(response.headers);
  const contentType = headers['content-type'];
  const redactedBody = redactCharset({ body: decoded.body, contentType }, redactor);
  return {
    kind: 'response',
    status: response.status,
    headers:
      redactedBody.contentType === contentType
        ? headers
        : { ...headers, 'content-type': redactedBody.contentType ?? '' },
    body: redactor.bytes(redactedBody.body),
    // Computed on demand: the path may hold the credential and must be redacted, and most callers do not read it.
    get finalUrl() {
      return redactor.text(`${origin}${pathname}`);
    },
  };
}

function tooLarge(policy: EgressPolicy): EgressResult {
  return { kind: 'too_large', message: `the answer is larger than ${policy.maxResponseBytes} bytes` };
}

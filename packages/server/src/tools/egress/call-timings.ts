import type { Exchanged } from './exchange.ts';

/**
 * One request that was sent, or that the policy refused. It has no path, query, headers and body. A request that the run did not
 * wait for counts as failed and has no duration.
 */
export interface OutboundCall {
  /** `name` or `name:port`, as the bundle declares it. */
  readonly host: string;
  readonly method: string;
  /** The status of the answer; null without an answer. */
  readonly status: number | null;
  readonly result: 'answered' | 'too_large' | 'failed' | 'refused';
  /** The bytes of the answer's body on the wire. */
  readonly bytes: number;
  readonly ms: number;
}

/** The outbound calls of one run. Plain data, because every run allocates it. */
export interface CallTimings {
  readonly calls: OutboundCall[];
  /** The number of calls that exceed the bound of the list. */
  callsLeftOut: number;
  /** The milliseconds in which at least one call was in progress. */
  upstreamMs: number;
  underWay: number;
  busySince: number;
}

/** The maximum number of calls. It includes redirects and retries, so it may exceed the requests of a run. */
const maxCalls = 100;

type Noted = { -readonly [Member in keyof OutboundCall]: OutboundCall[Member] };
const unanswered = { status: null, result: 'failed', bytes: 0, ms: 0 } as const;

type Sent = Pick<OutboundCall, 'host' | 'method'>;

/** Sends a request and records how it ended. `maxBytes` is the size that is recorded for an answer that is too large. */
export async function timeCall(
  trace: CallTimings | undefined,
  sent: Sent & { readonly maxBytes: number },
  send: () => Promise<Exchanged>,
): Promise<Exchanged> {
  if (trace === undefined) return await send();
  const beganAt = begin(trace);
  const { host, method, maxBytes } = sent;
  // The call is recorded when it begins, because a run may end without waiting for it.
  const call: Noted = { host, method: knownMethod(method), ...unanswered };
  note(trace, call);
  const exchanged = await send();
  Object.assign(call, describe(exchanged, maxBytes), { ms: end(trace) - beganAt });
  return exchanged;
}

/** Counts a wait that an upstream asked for as upstream time. */
export async function timeWait<T>(trace: CallTimings | undefined, wait: () => Promise<T>): Promise<T> {
  if (trace === undefined) return await wait();
  begin(trace);
  const waited = await wait();
  end(trace);
  return waited;
}

function begin(trace: CallTimings): number {
  const now = performance.now();
  if (trace.underWay === 0) trace.busySince = now;
  trace.underWay += 1;
  return now;
}

function end(trace: CallTimings): number {
  const now = performance.now();
  trace.underWay -= 1;
  if (trace.underWay === 0) trace.upstreamMs += now - trace.busySince;
  return now;
}

/** Records a call that the policy refused. `host` is the requested host, redacted. */
export function timeRefusal(trace: CallTimings | undefined, { host, method }: Sent): void {
  if (trace === undefined) return;
  note(trace, { host: host.slice(0, 253), method: knownMethod(method), ...unanswered, result: 'refused' });
}

function note(trace: CallTimings, call: OutboundCall): void {
  if (trace.calls.length < maxCalls) trace.calls.push(call);
  else trace.callsLeftOut += 1;
}

function describe(exchanged: Exchanged, maxBytes: number): Pick<OutboundCall, 'status' | 'result' | 'bytes'> {
  if ('tooLarge' in exchanged) return { status: null, result: 'too_large', bytes: maxBytes };
  if ('failure' in exchanged) return { status: null, result: 'failed', bytes: 0 };
  const { status, body } = exchanged.response;
  return { status, result: 'answered', bytes: body.length };
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method in upper case, or `OTHER`: a handler may use any text as method, and only those of HTTP are recorded. */
function knownMethod(method: string): string {
  const upper = method.toUpperCase();
  return methods.has(upper) ? upper : 'OTHER';
}

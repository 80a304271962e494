import type { Exchanged } from './exchange.ts';

/**
 * One request that went out, or that the policy kept from going out. Without path, query, headers and body. One that the
 * run did not wait for has failed, with no time.
 */
export interface OutboundCall {
  /** `name` or `name:port`, as the bundle declares it. */
  readonly host: string;
  readonly method: string;
  /** Of the answer; null without one. */
  readonly status: number | null;
  readonly result: 'answered' | 'too_large' | 'failed' | 'refused';
  /** Of the answer's body, as they came over the wire. */
  readonly bytes: number;
  readonly ms: number;
}

/** The outbound calls of one run. Data only: one is made for every run, so it must cost next to nothing. */
export interface CallTimings {
  readonly calls: OutboundCall[];
  /** Calls beyond the bound of the list. */
  callsLeftOut: number;
  /** Milliseconds in which at least one call was under way. */
  upstreamMs: number;
  underWay: number;
  busySince: number;
}

/** Redirects and retries count each, so there may be more than a run may ask for. */
const maxCalls = 100;

type Noted = { -readonly [Member in keyof OutboundCall]: OutboundCall[Member] };
const unanswered = { status: null, result: 'failed', bytes: 0, ms: 0 } as const;

type Sent = Pick<OutboundCall, 'host' | 'method'>;

/** Sends a request and notes how it went. `maxBytes` is what an answer that is too large had at least. */
export async function timeCall(
  trace: CallTimings | undefined,
  sent: Sent & { readonly maxBytes: number },
  send: () => Promise<Exchanged>,
): Promise<Exchanged> {
  if (trace === undefined) return await send();
  const beganAt = begin(trace);
  const { host, method, maxBytes } = sent;
  // A run may end without waiting for its calls: they are noted when they begin.
  const call: Noted = { host, method: knownMethod(method), ...unanswered };
  note(trace, call);
  const exchanged = await send();
  Object.assign(call, describe(exchanged, maxBytes), { ms: end(trace) - beganAt });
  return exchanged;
}

/** Waits as a third party asked for: that is its time too. */
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

/** Notes a call that the policy did not let out. `host` is whatever was asked for, scrubbed. */
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

/** A handler may name any method; only words of HTTP are noted. */
function knownMethod(method: string): string {
  const upper = method.toUpperCase();
  return methods.has(upper) ? upper : 'OTHER';
}

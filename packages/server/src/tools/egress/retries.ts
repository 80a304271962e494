import type { Clock } from '../../platform/clock.ts';
import { type RetryPolicy, retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import type { EgressResult } from '../../platform/outbound.ts';
import { readRetryAfter } from '../../platform/retry-after.ts';
import type { EgressPolicy } from './broker.ts';
import type { Call } from './call.ts';
import { timeWait } from './call-timings.ts';

/** Statuses of an upstream that is overloaded or unavailable and has not processed the request. */
const passing = new Set([429, 502, 503, 504]);
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
const retryPolicy: RetryPolicy = { firstMs: 500 };
/** A longer requested delay is returned to the caller as the answer, without a retry. */
const longestPauseMs = 10_000;

/** Whether repeating a request with this method has no further effect. */
export function isReading(method: string): boolean {
  return readingMethods.has(method.toUpperCase());
}

export interface Retrying {
  readonly method: string;
  readonly policy: EgressPolicy;
  readonly call: Call;
  readonly clock: Clock;
}

/** Repeats a repeatable request when the answer asks for a retry, after the requested delay. */
export async function withRetries(
  { method, policy, call, clock }: Retrying,
  send: () => Promise<EgressResult>,
): Promise<EgressResult> {
  const most = (policy.isRepeatable ?? isReading(method)) ? (policy.maxRetries ?? 0) : 0;
  const latest = performance.now() + policy.timeoutMs;
  for (let retries = 0; ; retries += 1) {
    const result = await send();
    if (retries >= most || result.kind !== 'response' || !passing.has(result.status)) return result;
    const requestedWait = readRetryAfter(result.headers['retry-after'], clock.now());
    const pauseMs = requestedWait ?? retryDelayMs(retryPolicy, retries + 1);
    if (pauseMs > longestPauseMs || performance.now() + pauseMs >= latest) return result;
    if (!(await timeWait(policy.trace, () => pause(call, pauseMs)))) return result;
  }
}

/** @returns false when the call ended during the pause */
function pause(call: Call, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve(true);
    }, ms);
    const forget = call.onEnd(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

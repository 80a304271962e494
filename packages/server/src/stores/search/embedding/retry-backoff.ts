import { setTimeout as pause } from 'node:timers/promises';
import { retryDelayMs } from '../../../platform/concurrency/retry-delay.ts';
import { EmbedderUnavailable } from './embedder.ts';

/** A temporary refusal. `retryAfterMs` is the delay that the service requests, or null. */
export interface TemporaryRefusal {
  readonly reason: string;
  readonly retryAfterMs: number | null;
  /** Whether the content of the request may be the cause. */
  readonly mayConcernContent: boolean;
}
/** A refusal of the content of the request. The reason is for people. */
export interface Refusal {
  readonly refusal: string;
  /** False when each attempt failed with an error that may be temporary. */
  readonly isPermanent: boolean;
}
export type Answer<Value> = Value | Refusal | TemporaryRefusal;

export interface RetryBackoff {
  /**
   * Retries until there is an answer. An error that the content may have caused is tried `contentAttempts` times (default:
   * as often as others) and then returned as a refusal.
   * @throws EmbedderUnavailable when every attempt has failed for another reason.
   */
  retry<Value extends object>(
    ask: () => Promise<Answer<Value>>,
    options: { signal: AbortSignal; contentAttempts?: number },
  ): Promise<Value | Refusal>;
}

/** The maximum pause. A longer one would delay a record too much. */
const longestPauseMs = 30_000;

/** Retries requests. When one request must wait, concurrent requests wait too, because they share a rate limit. */
export function createRetryBackoff({ attempts, backoffMs }: { attempts: number; backoffMs: number }): RetryBackoff {
  let quietUntil = 0;

  async function waitForQuiet(signal: AbortSignal): Promise<void> {
    for (let remaining = quietUntil - performance.now(); remaining > 0; remaining = quietUntil - performance.now()) {
      await pause(remaining, undefined, { signal });
    }
  }

  return {
    async retry(ask, { signal, contentAttempts = attempts }) {
      for (let attempt = 1; ; attempt++) {
        await waitForQuiet(signal);
        const answer = await ask();
        if (!('retryAfterMs' in answer)) return answer;
        if (answer.mayConcernContent && attempt >= contentAttempts)
          return { refusal: answer.reason, isPermanent: false };
        if (attempt === attempts) throw new EmbedderUnavailable(answer.reason, answer.retryAfterMs);
        const wait = answer.retryAfterMs ?? retryDelayMs({ firstMs: backoffMs }, attempt);
        if (wait > longestPauseMs) throw new EmbedderUnavailable(answer.reason, answer.retryAfterMs);
        quietUntil = Math.max(quietUntil, performance.now() + wait);
      }
    },
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import { retryDelayMs } from '../../kernel/concurrency/retry-delay.ts';
import { EmbedderUnavailable } from './embedder.ts';

/** A temporary refusal. `retryAfterMs` is the delay that the service requests, or null. */
export interface TemporaryRefusal {
  readonly reason: string;
  readonly retryAfterMs: number | null;
}
/** A permanent refusal. The reason is for people. */
export interface Refusal {
  readonly refusal: string;
}
export type Answer<Value> = Value | Refusal | TemporaryRefusal;

export interface RetryBackoff {
  /** Retries until there is an answer. @throws EmbedderUnavailable when every attempt has failed. */
  retry<Value extends object>(ask: () => Promise<Answer<Value>>, signal: AbortSignal): Promise<Value | Refusal>;
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
    async retry(ask, signal) {
      for (let attempt = 1; ; attempt++) {
        await waitForQuiet(signal);
        const answer = await ask();
        if (!('retryAfterMs' in answer)) return answer;
        if (attempt === attempts) throw new EmbedderUnavailable(answer.reason, answer.retryAfterMs);
        const wait = answer.retryAfterMs ?? retryDelayMs({ firstMs: backoffMs }, attempt);
        if (wait > longestPauseMs) throw new EmbedderUnavailable(answer.reason, answer.retryAfterMs);
        quietUntil = Math.max(quietUntil, performance.now() + wait);
      }
    },
  };
}

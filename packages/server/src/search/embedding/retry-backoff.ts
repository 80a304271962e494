import { setTimeout as pause } from 'node:timers/promises';
import { EmbedderUnavailable } from './embedder.ts';

/** Not now; `retryAfterMs` is what the other side asks for, null when it does not say. */
export interface NotNow {
  readonly reason: string;
  readonly retryAfterMs: number | null;
}
/** A repetition would be refused as well; the reason is for people. */
export interface Refusal {
  readonly refusal: string;
}
export type Answer<Value> = Value | Refusal | NotNow;

export interface RetryBackoff {
  /** Asks until there is an answer. @throws EmbedderUnavailable when there is none after all attempts. */
  insist<Value extends object>(ask: () => Promise<Answer<Value>>, signal: AbortSignal): Promise<Value | Refusal>;
}

/** Longer is not waited for in one piece: a record should not stand still for it. */
const longestPauseMs = 30_000;

/** When one request is told to wait, those beside it wait, too: a limit of rate is one for all. */
export function createRetryBackoff({ attempts, backoffMs }: { attempts: number; backoffMs: number }): RetryBackoff {
  let quietUntil = 0;

  async function waitForQuiet(signal: AbortSignal): Promise<void> {
    for (let left = quietUntil - performance.now(); left > 0; left = quietUntil - performance.now()) {
      await pause(left, undefined, { signal });
    }
  }

  return {
    async insist(ask, signal) {
      for (let attempt = 1; ; attempt++) {
        await waitForQuiet(signal);
        const answer = await ask();
        if (!('retryAfterMs' in answer)) return answer;
        if (attempt === attempts) throw new EmbedderUnavailable(answer.reason);
        const wait = answer.retryAfterMs ?? backoffMs * 2 ** (attempt - 1);
        if (wait > longestPauseMs) throw new EmbedderUnavailable(answer.reason);
        quietUntil = Math.max(quietUntil, performance.now() + wait);
      }
    },
  };
}

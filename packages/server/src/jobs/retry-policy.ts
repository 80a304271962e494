import { setTimeout as pause } from 'node:timers/promises';

/** Pauses between attempts in milliseconds. Each pause is twice as long as the one before, up to `longestMs`. */
export interface RetryPolicy {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** @param attempt the number of the failed attempt, from 1 */
export function retryDelayMs({ firstMs, longestMs }: RetryPolicy, attempt: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(Math.max(0, attempt - 1), 30));
}

export interface RetryOptions {
  readonly policy: RetryPolicy;
  /** When the signal is aborted, one last attempt follows at once. */
  readonly signal: AbortSignal;
  /** Default: every error. */
  readonly isRetryable?: (error: unknown) => boolean;
  /** Called before each pause. */
  readonly onRetry: (error: unknown) => void;
}

/** Repeats until an attempt succeeds. Rejects with the error of the last attempt. */
export async function retryUntilStored<Result>(
  attempt: () => Promise<Result>,
  { policy, signal, isRetryable = () => true, onRetry }: RetryOptions,
): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    const isLast = signal.aborted;
    try {
      return await attempt();
    } catch (error) {
      if (isLast || !isRetryable(error)) throw error;
      onRetry(error);
      await pause(retryDelayMs(policy, attempts), undefined, { signal }).catch(() => {});
    }
  }
}

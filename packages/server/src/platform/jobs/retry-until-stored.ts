import { setTimeout as pause } from 'node:timers/promises';
import { type RetryPolicy, retryDelayMs } from '../concurrency/retry-delay.ts';

export interface RetryOptions {
  readonly policy: RetryPolicy;
  /** When the signal is aborted, one last attempt follows immediately. */
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

/** Delays between attempts in milliseconds. Each delay is twice as long as the one before, up to `longestMs`. */
export interface RetryPolicy {
  readonly firstMs: number;
  /** Default: no limit. */
  readonly longestMs?: number;
}

/** The doublings after which a delay stays the same, so that no number of attempts makes it infinite. */
const mostDoublings = 30;

/** @param attempt the number of the failed attempt, from 1 */
export function retryDelayMs({ firstMs, longestMs = Number.POSITIVE_INFINITY }: RetryPolicy, attempt: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(Math.max(0, attempt - 1), mostDoublings));
}

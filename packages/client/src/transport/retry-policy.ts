import { ApiError, ConnectionError } from '../errors.ts';

/** The facts that decide whether the client retries a call. */
export interface RetryState {
  /** Retries before this one. */
  readonly retries: number;
  readonly maxRetries: number;
  /** Whether a second request has no second effect. */
  readonly isRepeatable: boolean;
  /** Whether the service recognises a repetition by its `Idempotency-Key`. */
  readonly hasKey: boolean;
}

const firstDelayMs = 500;
const longestDelayMs = 8_000;
/** A longer `Retry-After` is left to the caller. */
const longestRetryAfterMs = 60_000;

/** Operations that answer a repetition with the result of the first request, by its `Idempotency-Key`. */
export const keyedEndpoints: ReadonlySet<string> = new Set([
  'POST /v1/files',
  'POST /v1/execute',
  'POST /v1/bundles/{bundle_id}/plugins/{plugin_id}/execute',
]);

/** Operations that only read, or that end in the same state when they are repeated. */
const repeatableEndpoints: ReadonlySet<string> = new Set([
  'POST /v1/collections/{collection_id}',
  'POST /v1/collections/{collection_id}/reembed',
  'POST /v1/collections/{collection_id}/embedding_failures/retry',
  'POST /v1/collections/{collection_id}/chunks/query',
  'POST /v1/chunks/query',
  'POST /v1/collections/{collection_id}/chunks/{chunk_id}',
  'POST /v1/collections/{collection_id}/records/{record_id}',
  'POST /v1/collections/{collection_id}/records/{record_id}/retry',
  'POST /v1/collections/{collection_id}/records/{record_id}/cancel',
  'POST /v1/collections/{collection_id}/records/{record_id}/restore',
  'POST /v1/credential_profiles/{name}',
  'POST /v1/verify_credentials',
  'POST /v1/plugins/{bundle_id}/{plugin_id}/options',
  'POST /v1/runs/{run_id}/cancel',
]);

export function isRepeatable(endpoint: string): boolean {
  return !endpoint.startsWith('POST ') || keyedEndpoints.has(endpoint) || repeatableEndpoints.has(endpoint);
}

/**
 * Returns the milliseconds before the next attempt, or null when the call is not sent again. Delays double and are random, so that clients
 * that failed together do not return together.
 */
export function retryDelay(error: unknown, state: RetryState, random: () => number = Math.random): number | null {
  if (state.retries >= state.maxRetries || !mayRetry(error, state)) return null;
  const asked = error instanceof ApiError ? error.retryAfterMs : null;
  if (asked !== null) return asked <= longestRetryAfterMs ? asked : null;
  return random() * Math.min(longestDelayMs, firstDelayMs * 2 ** state.retries);
}

function mayRetry(error: unknown, { isRepeatable, hasKey }: RetryState): boolean {
  if (error instanceof ConnectionError) return isRepeatable || wasNotSent(error);
  if (!(error instanceof ApiError)) return false;
  const { status, code, retryAfterMs } = error;
  // The client does not retry an exceeded quota, because waiting does not help. A failed plugin run is a final result:
  // its third party may have acted, and the caller decides whether to wait for it.
  const isTemporary = code === 'TOO_MANY_REQUESTS' || code === 'UNREADABLE_ANSWER';
  if (status === 429) return isTemporary;
  if (status === 409) return hasKey && retryAfterMs !== null; // the first request is in progress
  if (status === 408) return isRepeatable;
  return isRepeatable && [502, 503, 504].includes(status) && (isTemporary || code === 'SERVICE_UNAVAILABLE');
}

/** Whether the connection failed before a request could be sent. Only Node.js reports this. */
function wasNotSent({ cause }: ConnectionError): boolean {
  const reason = cause instanceof Error ? (cause.cause ?? cause) : cause;
  if (typeof reason !== 'object' || reason === null || !('code' in reason)) return false;
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(String(reason.code));
}

/**
 * Reads `Retry-After`: seconds, or a date, which is compared with the `Date` of the response because the clocks may differ.
 * @returns milliseconds; null without a readable value
 */
export function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const then = /^[A-Z][a-z]{2},/.test(value) ? Date.parse(value) : Number.NaN; // `Date.parse` reads far more than dates
  if (Number.isNaN(then)) return null;
  const now = Date.parse(headers.get('date') ?? '');
  return Math.max(0, then - (Number.isNaN(now) ? Date.now() : now));
}

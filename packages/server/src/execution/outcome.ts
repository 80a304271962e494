import type { ErrorCode, ErrorDetail } from '@quartermaster/contract';

/** How a run ended. A plugin's failure is an outcome, not an exception; the route must exhaust it. */
export type Outcome =
  | { readonly kind: 'succeeded'; readonly output: unknown; readonly violations: readonly ErrorDetail[] }
  /** The plugin found the input wrong: 422. */
  | { readonly kind: 'input_rejected'; readonly message: string }
  /** The upstream refused or could not be reached: 502. */
  | {
      readonly kind: 'upstream_failed';
      readonly message: string;
      readonly upstreamStatus: number | null;
      readonly excerpt: string | null;
    }
  /** The upstream said that the credentials are bad: 401. */
  | { readonly kind: 'credentials_rejected'; readonly upstreamStatus: number; readonly excerpt: string | null }
  /** The egress policy forbids the address: 502. */
  | { readonly kind: 'egress_refused'; readonly message: string }
  /** `of`: whose time. Default: the clock's. */
  | { readonly kind: 'timed_out'; readonly limitMs: number; readonly of?: 'processor' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'crashed'; readonly message: string }
  | { readonly kind: 'out_of_memory'; readonly limitMb: number }
  | { readonly kind: 'queue_full'; readonly retryAfterSeconds: number }
  /** The caller has gone; nobody reads the answer. */
  | { readonly kind: 'cancelled' };

/** The code of the error that an outcome is answered with; null: none. */
export const outcomeCodes = {
  succeeded: null,
  input_rejected: 'REQUEST_VALIDATION_ERROR',
  upstream_failed: 'PROVIDER_ERROR',
  credentials_rejected: 'CREDENTIALS_VALIDATION_ERROR',
  egress_refused: 'PROVIDER_ERROR',
  timed_out: 'PLUGIN_TIMEOUT',
  failed: 'PLUGIN_FAILED',
  crashed: 'PLUGIN_FAILED',
  out_of_memory: 'PLUGIN_FAILED',
  queue_full: 'TOO_MANY_REQUESTS',
  cancelled: 'RUN_CANCELLED',
} as const satisfies Record<Outcome['kind'], ErrorCode | null>;

/** How a run that began has ended. */
export interface Execution {
  readonly runId: string;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** Nothing has happened upstream that a second run would do twice. */
  readonly isRepeatable: boolean;
}

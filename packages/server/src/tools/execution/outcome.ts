import type { Artifact, ErrorCode, ErrorDetail, OutputArtifact } from '@quartermaster/contract';

/** A successful answer of a third party that the run could not use. */
export interface KeptAnswer {
  /** Null when the answer could not be stored. */
  readonly artifact: Artifact | null;
  /** Whether the artifact holds the whole answer. */
  readonly isComplete: boolean;
  /** The run sent another request after the one that was answered. */
  readonly isEarlier?: true;
}

/** The error answer of a third party. Every text is redacted and bounded. */
export interface UpstreamAnswer {
  /** null without an answer. */
  readonly upstreamStatus: number | null;
  /** The code and the message in the answer of the third party; null if it has none. */
  readonly upstreamCode: string | null;
  readonly upstreamMessage: string | null;
  /** The first bytes of the answer. */
  readonly excerpt: string | null;
}

interface WithAnswer {
  /** Absent unless the third party had answered with success. */
  readonly answer?: KeptAnswer;
}

/** How a run ended. A failure of a plugin is an outcome, not an exception. {@link outcomeCodes} covers every kind. */
export type Outcome =
  | {
      readonly kind: 'succeeded';
      readonly output: unknown;
      readonly violations: readonly ErrorDetail[];
      /** The stored parts of the output. Absent when there are none. */
      readonly artifacts?: readonly OutputArtifact[];
      /** The contents of a tool of an MCP server beside its structured output. Absent when there are none. */
      readonly contents?: readonly unknown[];
    }
  /** The plugin rejected the input: 422. */
  | { readonly kind: 'input_rejected'; readonly message: string }
  /** The upstream answered with 408 or 5xx, gave an unusable answer or could not be reached: 502. */
  | ({ readonly kind: 'upstream_failed'; readonly message: string } & UpstreamAnswer & WithAnswer)
  /** The upstream rejected the request with another 4xx: 422. */
  | ({ readonly kind: 'upstream_rejected'; readonly message: string } & UpstreamAnswer & WithAnswer)
  /** The upstream answered with 429: 429. `retryAfterSeconds` is null when the upstream names no time. */
  | ({
      readonly kind: 'upstream_rate_limited';
      readonly message: string;
      readonly retryAfterSeconds: number | null;
    } & UpstreamAnswer &
      WithAnswer)
  /** The upstream rejected the credentials: 401. */
  | ({ readonly kind: 'credentials_rejected'; readonly message: string } & UpstreamAnswer)
  /** The egress policy forbids the address: 502. */
  | ({ readonly kind: 'egress_refused'; readonly message: string } & WithAnswer)
  /** `of` names the limit: processor time, or by default elapsed time. */
  | ({ readonly kind: 'timed_out'; readonly limitMs: number; readonly of?: 'processor' } & WithAnswer)
  | ({ readonly kind: 'failed'; readonly message: string } & WithAnswer)
  | ({ readonly kind: 'crashed'; readonly message: string } & WithAnswer)
  | ({ readonly kind: 'out_of_memory'; readonly limitMb: number } & WithAnswer)
  | { readonly kind: 'queue_full'; readonly retryAfterSeconds: number }
  /** The caller disconnected, so the outcome is not sent. */
  | { readonly kind: 'cancelled' };

/** The error code of each outcome; null when it is not an error. */
export const outcomeCodes = {
  succeeded: null,
  input_rejected: 'REQUEST_VALIDATION_ERROR',
  upstream_failed: 'PROVIDER_ERROR',
  upstream_rejected: 'PROVIDER_REJECTED',
  upstream_rate_limited: 'PROVIDER_RATE_LIMITED',
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
  /** Whether running again cannot repeat an effect of this run. */
  readonly isRepeatable: boolean;
}

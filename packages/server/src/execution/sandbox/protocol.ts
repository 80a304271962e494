import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';

/**
 * The messages between host and child, each a frame of JSON. The host believes nothing a child says: it measures the
 * frame before parsing it, checks its shape, and drops what names another run.
 *
 * A child may be handed several runs. It begins one only after it has answered the one before, in the order in which
 * they came, so that the host knows which can have begun: the first without an answer, and no other (ADR 0016).
 */
export type ToChild =
  | {
      readonly type: 'run';
      readonly run: string;
      /** A `file:` URL inside the bundle's folder. */
      readonly handler: string;
      readonly plugin: string;
      readonly input: Record<string, unknown>;
      readonly maxOutputBytes: number;
      readonly maxRequests: number;
    }
  | { readonly type: 'answer'; readonly run: string; readonly call: number; readonly response: OutboundResponse }
  | { readonly type: 'refusal'; readonly run: string; readonly call: number; readonly error: CallError }
  | { readonly type: 'cancel'; readonly run: string }
  /** Drop every run that has not begun. Answered by `pending_dropped`. */
  | { readonly type: 'drop_pending' };

export type FromChild =
  | { readonly type: 'pending_dropped' }
  | RunEnd
  | { readonly type: 'fetch'; readonly run: string; readonly call: number; readonly request: OutboundRequest }
  | { readonly type: 'log'; readonly run: string; readonly message: string; readonly fields?: Record<string, unknown> }
  | { readonly type: 'progress'; readonly run: string; readonly fraction: number; readonly message?: string };

/** The answer of a run. `ms`: how long its handler took, by the child's clock. */
export type RunEnd =
  | { readonly type: 'returned'; readonly run: string; readonly ms: number; readonly output: unknown }
  | { readonly type: 'failed' | 'rejected'; readonly run: string; readonly ms: number; readonly message: string };

export interface CallError {
  readonly code: string;
  readonly message: string;
}

/** The child keeps to these so that an honest handler never meets the host's harder ones. */
export const bounds = {
  requestBytes: 1024 * 1024,
  concurrentRequests: 6,
  logLines: 200,
  logBytes: 64 * 1024,
  logLineBytes: 4 * 1024,
  progressReports: 200,
  messageCharacters: 2_000,
  /** Of an output: what is deeper breaks recursive validators. */
  depth: 128,
} as const;

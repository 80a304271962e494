import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';

/**
 * The messages between host and child. Each is one frame of JSON. The host does not trust the child: it checks the size of a frame
 * before it parses it, checks its shape, and drops messages for other runs.
 *
 * A child may receive several runs. It executes them in the order of arrival and answers each before it begins the next. So the
 * host knows that only the first unanswered run can have begun (ADR 0016).
 */
export type ToChild =
  | {
      readonly type: 'run';
      readonly run: string;
      /** A `file:` URL in the bundle's folder. */
      readonly handler: string;
      readonly plugin: string;
      readonly input: Record<string, unknown>;
      readonly maxOutputBytes: number;
      readonly maxRequests: number;
    }
  | { readonly type: 'answer'; readonly run: string; readonly call: number; readonly response: OutboundResponse }
  | { readonly type: 'refusal'; readonly run: string; readonly call: number; readonly error: CallError }
  | { readonly type: 'cancel'; readonly run: string }
  /** Drops every run that has not begun. The child answers with `pending_dropped`. */
  | { readonly type: 'drop_pending' };

export type FromChild =
  | { readonly type: 'pending_dropped' }
  | RunEnd
  /** A `returned` message that is longer than {@link bounds.parsedBytes}. */
  | { readonly type: 'returned_large'; readonly run: string; readonly ms: number; readonly json: Buffer }
  | { readonly type: 'fetch'; readonly run: string; readonly call: number; readonly request: OutboundRequest }
  | { readonly type: 'log'; readonly run: string; readonly message: string; readonly fields?: Record<string, unknown> }
  | { readonly type: 'progress'; readonly run: string; readonly fraction: number; readonly message?: string };

/** The answer to a run. `ms` is the duration of the handler by the child's clock. */
export type RunEnd =
  | { readonly type: 'returned'; readonly run: string; readonly ms: number; readonly output: unknown }
  | {
      readonly type: 'failed' | 'rejected';
      readonly run: string;
      readonly ms: number;
      readonly message: string;
      /** The handler returned, and its output cannot be sent. */
      readonly hasReturned?: boolean;
    };

export interface CallError {
  readonly code: string;
  readonly message: string;
}

/** Limits that the child applies, so that an honest handler never reaches the stricter limits of the host. */
export const bounds = {
  requestBytes: 1024 * 1024,
  /** The longest frame that the host parses on its event loop. */
  parsedBytes: 1024 * 1024 + 4096,
  concurrentRequests: 6,
  logLines: 200,
  logBytes: 64 * 1024,
  logLineBytes: 4 * 1024,
  progressReports: 200,
  messageCharacters: 2_000,
  /** The depth of an output. Deeper values exhaust the stack of recursive validators. */
  depth: 128,
} as const;

import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';

/**
 * What host and child say to each other over file descriptor 3: one JSON object a line, UTF-8. The host believes
 * nothing a child says: it measures the line before parsing it, checks its shape, and drops what names another run.
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
  | { readonly type: 'ready' | 'pending_dropped' }
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

/** Splits a stream into lines. A line longer than `maxBytes()` ends the reading with one call of `onTooLong`. */
export function createLineReader(reader: {
  readonly onLine: (line: string) => void;
  readonly onTooLong: () => void;
  readonly maxBytes: () => number;
}): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let ended = false;
  return (chunk) => {
    let start = 0;
    while (!ended) {
      const found = chunk.indexOf(0x0a, start);
      const end = found < 0 ? chunk.length : found;
      if (heldBytes + end - start > reader.maxBytes()) {
        ended = true;
        held = [];
        return reader.onTooLong();
      }
      if (found < 0) break;
      const tail = chunk.subarray(start, end);
      start = end + 1;
      const line = heldBytes === 0 ? tail : Buffer.concat([...held, tail]);
      held = [];
      heldBytes = 0;
      reader.onLine(line.toString('utf8'));
    }
    if (ended || start >= chunk.length) return;
    held.push(chunk.subarray(start));
    heldBytes += chunk.length - start;
  };
}

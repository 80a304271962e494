import type { Dispatcher } from 'undici';
import type { Call } from './call.ts';

/** One HTTP request as it is sent over one connection. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ExchangeFailure {
  readonly error: Error;
  /** Whether the failure came before any part of an answer. */
  readonly beforeAnswer: boolean;
}

export type Exchanged =
  | { readonly response: WireResponse }
  | { readonly tooLarge: true }
  | { readonly failure: ExchangeFailure };

type OnData = ((chunk: Uint8Array) => void) | undefined;

/** Sends one request and reads its answer, at most `maxBytes` of its body. Never rejects. Stops when the call ends. */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  { call, maxBytes, onData }: { call: Call; maxBytes: number; onData?: OnData },
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const settle = (exchanged: Exchanged) => {
      forget();
      resolve(exchanged);
    };
    const reader = createReader(maxBytes, settle, onData);
    const forget = call.onEnd((reason) => reader.abort(reason));
    if (call.ended !== null) return;
    const { method, path, headers } = request;
    try {
      dispatcher.dispatch({ method, path, headers, body: request.body ?? null }, reader.handler);
    } catch (error) {
      reader.abort(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function createReader(maxBytes: number, settle: (exchanged: Exchanged) => void, onData: OnData) {
  const chunks: Buffer[] = [];
  let size = 0;
  let head: { status: number; headers: Record<string, string> } | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let aborted: Error | undefined;
  let settled = false;

  function finish(exchanged: Exchanged): void {
    if (settled) return;
    settled = true;
    settle(exchanged);
  }
  function abort(reason: Error): void {
    aborted = reason;
    finish({ failure: { error: reason, beforeAnswer: head === undefined } });
    controller?.abort(reason);
  }
  function overflow(): void {
    finish({ tooLarge: true });
    controller?.abort(new Error('The response is too large.'));
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (aborted !== undefined) started.abort(aborted);
    },
    onResponseStart(_controller, status, headers) {
      // An interim answer (103) precedes the final one.
      if (status < 200) return;
      head = { status, headers: flatten(headers) };
      if (Number(head.headers['content-length']) > maxBytes) overflow();
    },
    onResponseData(_controller, chunk) {
      size += chunk.length;
      if (size > maxBytes) return overflow();
      chunks.push(chunk);
      if (head?.status === 200 && head.headers['content-encoding'] === undefined) onData?.(chunk);
    },
    onResponseEnd() {
      if (head !== undefined) finish({ response: { ...head, body: Buffer.concat(chunks, size) } });
    },
    onResponseError(_controller, error) {
      finish({ failure: { error, beforeAnswer: head === undefined } });
    },
  };
  return { handler, abort };
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const entries: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) entries.push([name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]);
  }
  return Object.fromEntries(entries);
}

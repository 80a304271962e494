import type { PassThrough } from 'node:stream';
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

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The receiver of one large answer. */
export interface Overflow {
  /** Takes the body as it comes from the connection. Closed when the receiver wants no more. */
  readonly body: PassThrough;
  /** Resolves when the receiver has taken the body, or has no use for the rest. */
  readonly received: Promise<void>;
}

export interface ExchangeOptions {
  readonly call: Call;
  readonly maxBytes: number;
  readonly onData?: ((chunk: Uint8Array) => void) | undefined;
  /** Opens the receiver of an answer that is too large. */
  readonly openOverflow?: (head: AnswerHead) => Overflow | undefined;
}

/** Sends one request and reads its answer, at most `maxBytes` of its body. Never rejects. Stops when the call ends. */
export function exchange(dispatcher: Dispatcher, request: WireRequest, options: ExchangeOptions): Promise<Exchanged> {
  const { call } = options;
  return new Promise((resolve) => {
    const settle = (exchanged: Exchanged) => {
      forget();
      resolve(exchanged);
    };
    const reader = createReader(settle, options);
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

function createReader(settle: (exchanged: Exchanged) => void, { maxBytes, onData, openOverflow }: ExchangeOptions) {
  const chunks: Buffer[] = [];
  let size = 0;
  let head: { status: number; headers: Record<string, string> } | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let aborted: Error | undefined;
  let settled = false;
  let overflow: Overflow | undefined;

  function finish(exchanged: Exchanged): void {
    if (settled) return;
    settled = true;
    settle(exchanged);
  }
  /** The receiver has what arrived before, and the run learns that the answer is too large. */
  function endOverflow({ body, received }: Overflow, error?: Error): void {
    if (error === undefined) body.end();
    else body.destroy(error);
    void received.then(() => finish({ tooLarge: true }));
  }
  function fail(error: Error): void {
    if (overflow !== undefined) endOverflow(overflow, error);
    else finish({ failure: { error, beforeAnswer: head === undefined } });
  }
  function abort(reason: Error): void {
    aborted = reason;
    fail(reason);
    controller?.abort(reason);
  }
  /** Passes the body on to the receiver of large answers. Without one, the connection is closed. */
  function exceed(): void {
    overflow = head && openOverflow?.(head);
    if (overflow === undefined) {
      finish({ tooLarge: true });
      controller?.abort(new Error('The response is too large.'));
      return;
    }
    const { body } = overflow;
    body.on('close', () => {
      if (!body.writableEnded) controller?.abort(new Error('The receiver wants no more of the response.'));
    });
    body.on('drain', () => controller?.resume());
    for (const chunk of chunks.splice(0)) pass(body, chunk);
  }
  function pass(body: Overflow['body'], chunk: Buffer): void {
    if (!body.destroyed && !body.write(chunk)) controller?.pause();
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
      if (Number(head.headers['content-length']) > maxBytes) exceed();
    },
    onResponseData(_controller, chunk) {
      if (overflow !== undefined) return pass(overflow.body, chunk);
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) return exceed();
      if (head?.status === 200 && head.headers['content-encoding'] === undefined) onData?.(chunk);
    },
    onResponseEnd() {
      if (overflow !== undefined) endOverflow(overflow);
      else if (head !== undefined) finish({ response: { ...head, body: Buffer.concat(chunks, size) } });
    },
    onResponseError(_controller, error) {
      fail(error);
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

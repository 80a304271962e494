/**
 * The interface of a handler (tier T1). A handler file imports types only: everything it may do arrives as
 * its second argument, so it runs from any folder. Export it as `run`:
 *
 *     import type { Handler } from '@quartermaster/plugin-kit';
 *     export const run: Handler<{ a: number }, { result: number }> = ({ a }) => ({ result: a + 1 });
 */
export type Handler<Input = Record<string, unknown>, Output = unknown> = (
  input: Input,
  context: HandlerContext,
) => Output | Promise<Output>;

export interface HandlerContext {
  /** The id of the plugin that runs, because several plugins may share a handler file. */
  readonly plugin: string;
  /**
   * Sends an HTTP request through the server's broker, to the bundle's `hosts` only. The broker adds credentials as `inject`
   * declares; handlers never see them. Rejects with `{code, message}`, as in HandlerError, when the request is refused or fails.
   */
  fetch(request: OutboundRequest): Promise<OutboundResponse>;
  /** Writes one line to the server's log, at most 4 KiB. */
  log(message: string, fields?: Record<string, unknown>): void;
  /** Reports progress from 0 to 1 to clients that follow the run. */
  progress(fraction: number, message?: string): void;
  /** Fails the run with a message for the caller: invalid input (422) instead of a failure of the plugin (500). */
  reject(message: string): never;
  /** Aborts when the caller disconnects or the time limit is reached. */
  readonly signal: AbortSignal;
}

export interface OutboundRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  readonly url: string;
  readonly query?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string | number>>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged; other values are sent as JSON. */
  readonly body?: unknown;
  /** The bytes of the body as base64, instead of `body`. They are sent unchanged. */
  readonly base64?: string;
  /** Whether to return a response that is not text as `base64`. Default: it is decoded as text. */
  readonly binary?: boolean;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text in its charset, with credentials redacted. Empty when `base64` is set. */
  readonly text: string;
  /** The body when `binary` was set and the response is not text. */
  readonly base64?: string;
}

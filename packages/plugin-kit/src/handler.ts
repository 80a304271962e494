/**
 * What a handler (tier T1) is and what it may do. A handler file imports types only: everything it may do arrives as
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
  /** Id of the plugin that runs: several may share a handler file. */
  readonly plugin: string;
  /**
   * Makes an HTTP call through the server's broker: only to the bundle's `hosts`; credentials are added there as
   * `inject` says and are never seen here. Rejects with a HandlerError-shaped `{code, message}` when it may not or
   * cannot be made.
   */
  fetch(request: OutboundRequest): Promise<OutboundResponse>;
  /** One line in the server's log, at most 4 KiB. */
  log(message: string, fields?: Record<string, unknown>): void;
  /** 0..1, for whoever watches the run. */
  progress(fraction: number, message?: string): void;
  /** Fails the run with a message for the caller: bad input (422) rather than a fault of the plugin (500). */
  reject(message: string): never;
  /** Aborts when the caller has gone or the time is up. */
  readonly signal: AbortSignal;
}

export interface OutboundRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  readonly url: string;
  readonly query?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string | number>>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is; anything else as JSON. */
  readonly body?: unknown;
  /** An answer that is no text comes as `base64`. Default: it comes as text all the same, with what it can be read as. */
  readonly binary?: boolean;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text, by the charset it names, credentials scrubbed; empty where there is `base64`. */
  readonly text: string;
  /** The body where `binary` asked for it and it is no text. */
  readonly base64?: string;
}

import { bearer, readBaseUrl } from '../base-url.ts';
import { type CallParts, type EncodedCall, encodeCall } from '../encode-call.ts';
import {
  ApiError,
  ConnectionError,
  foreignBodyError,
  QuartermasterError,
  readApiError,
  TimeoutError,
} from '../errors.ts';
import type { Answer } from './api-request.ts';
import { createIdempotencyKey } from './idempotency-key.ts';
import { discardBody, isRedirect, readStart } from './read-body.ts';
import { isRepeatable, keyedEndpoints, readRetryAfter, retryDelay } from './retry-policy.ts';
import { sleep, startTimeLimit } from './time-limit.ts';

/** Options of a single call. */
export interface RequestOptions {
  /** Cancels the call. It then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt; 0: no limit. */
  readonly timeout?: number | undefined;
  readonly maxRetries?: number | undefined;
  /**
   * For `POST`: the key of a call that may be a repetition. Default: a new one. The service honours it for uploads and runs, and
   * ignores it for every other operation.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface TransportOptions {
  /** The name of the option that holds `baseUrl`, for errors. */
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly fetch?: typeof fetch | undefined;
}

/** A body that is created again for each attempt. */
export interface Payload {
  readonly body: Blob | ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends the request instead of `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface Call extends CallParts, RequestOptions {
  readonly open?: () => Payload;
  /** False: the body cannot be sent twice. */
  readonly canRepeat?: boolean;
  /** True: the caller reads the body of the response, which then has no time limit. */
  readonly isStreamed?: boolean;
}

/**
 * Reads the body of a successful response.
 * @param refuse creates the error for a body that does not come from the service
 */
export type ReadResponse<T> = (response: Response, refuse: (text: string) => ApiError) => Promise<T>;

/** Sends requests to one address, retries them and turns failures into errors. */
export interface Transport {
  send<T>(endpoint: string, call: Call, read: ReadResponse<T>): Promise<Answer<T>>;
}

/** With other values, Node.js 20 copies the stream for a redirect and holds all of it in memory. */
const streamOptions = { duplex: 'half', redirect: 'error', window: null } as const;

interface Attempt {
  readonly endpoint: string;
  readonly call: Call;
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: EncodedCall['body'];
  };
  readonly idempotencyKey: string | null;
  readonly retries: number;
}

export function createTransport({
  name,
  baseUrl,
  apiKey,
  timeout,
  maxRetries,
  fetch: own,
}: TransportOptions): Transport {
  const base = readBaseUrl(name, baseUrl);
  const authorization = apiKey === undefined ? {} : { Authorization: bearer(apiKey) };
  /** Removes the key from a text of the server, which may quote the request. */
  const redact = (text: string) => (apiKey === undefined ? text : text.replaceAll(apiKey, '[API key]'));

  async function send<T>(endpoint: string, call: Call, read: ReadResponse<T>): Promise<Answer<T>> {
    const idempotencyKey = endpoint.startsWith('POST ') ? (call.idempotencyKey ?? createIdempotencyKey()) : null;
    const encoded = encodeCall(endpoint, { ...call, idempotencyKey: idempotencyKey ?? undefined });
    const init = { ...encoded, headers: { ...authorization, ...encoded.headers } };
    const canRepeat = call.canRepeat ?? true;
    for (let retries = 0; ; retries += 1) {
      try {
        return await attempt({ endpoint, call, url: base + encoded.target, init, idempotencyKey, retries }, read);
      } catch (error) {
        const delay = retryDelay(error, {
          retries,
          maxRetries: canRepeat ? (call.maxRetries ?? maxRetries) : 0,
          isRepeatable: isRepeatable(endpoint),
          hasKey: keyedEndpoints.has(endpoint),
        });
        if (delay === null) throw error;
        await sleep(delay, call.signal);
      }
    }
  }

  async function attempt<T>(request: Attempt, read: ReadResponse<T>): Promise<Answer<T>> {
    const { call, idempotencyKey } = request;
    const ms = call.timeout ?? timeout;
    const limit = startTimeLimit(ms, call.signal, () => undefined);
    try {
      limit.signal.throwIfAborted();
      const response = await open(request, limit.signal);
      await check(response, request);
      if (call.isStreamed === true) limit.stop();
      const { requestId } = contextOf(response, request);
      const refuse = (text: string) => foreignBodyError(response.status, redact(text), contextOf(response, request));
      const answer = { data: await read(response, refuse), response, requestId };
      if (call.isStreamed !== true) limit.release();
      return answer;
    } catch (error) {
      limit.release();
      if (call.signal?.aborted === true) throw call.signal.reason;
      if (limit.isOver()) throw new TimeoutError(`${base} did not respond within ${ms} ms.`, { idempotencyKey });
      if (error instanceof QuartermasterError) throw error;
      throw new ConnectionError(`The connection to ${base} failed: ${redact(describe(error))}.`, {
        idempotencyKey,
        cause: error,
      });
    }
  }

  function open({ call, url, init }: Attempt, signal: AbortSignal): Promise<Response> {
    const payload = call.open?.();
    const { method, headers } = init;
    const request = {
      method,
      headers: { ...headers, ...payload?.headers },
      body: payload?.body ?? init.body,
      signal,
      ...(payload?.body instanceof ReadableStream ? streamOptions : { redirect: 'manual' as const }),
    };
    return (payload?.fetch ?? own ?? fetch)(url, request);
  }

  /** @throws ApiError for a redirect and for an error response */
  async function check(response: Response, request: Attempt): Promise<void> {
    const { status } = response;
    const { endpoint, retries } = request;
    const context = contextOf(response, request);
    if (isRedirect(response)) {
      await discardBody(response);
      const message = `${base} answered with a redirect, which is not followed. Set the URL to the address of the service.`;
      throw new ApiError(status, { code: 'UNREADABLE_ANSWER', message }, context);
    }
    // An earlier attempt has deleted the object, but its response was lost.
    if (response.ok || (status === 404 && retries > 0 && endpoint.startsWith('DELETE '))) return;
    throw readApiError(status, redact(await readStart(response)), context);
  }

  return { send };
}

function contextOf({ headers }: Response, { idempotencyKey }: Attempt) {
  return { idempotencyKey, requestId: headers.get('x-request-id'), retryAfterMs: readRetryAfter(headers) };
}

/** Describes an error of `fetch`, which hides the reason in its cause. */
function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : 'unknown reason';
}

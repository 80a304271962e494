import { type CallParts, encodeCall } from './encode-call.ts';
import { type ApiError, readApiError } from './errors.ts';

/** The generated types of one operation. */
interface Operation {
  readonly request: object;
  readonly responses: object;
}

/** Operations by method and path, such as `GET /v1/files`. */
export type Operations<T> = { readonly [K in keyof T]: Operation };

/** The JSON body of a successful response. */
export type ResponseOf<T extends Operations<T>, E extends keyof T> = T[E]['responses'][keyof T[E]['responses']];

/** The `data` member of that body. */
export type DataOf<T extends Operations<T>, E extends keyof T> = Extract<ResponseOf<T, E>, { data: unknown }>['data'];

/** The query parameters of a request. */
export type QueryOf<T extends Operations<T>, E extends keyof T> = T[E]['request'] extends { query?: infer Q }
  ? Exclude<Q, undefined>
  : never;

export interface CallOptions {
  /** Sent as `Idempotency-Key`: a repeated call has no further effect and gets the same response. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The operations that answer with JSON. */
export type JsonEndpoint<T extends Operations<T>> = {
  [E in keyof T]: [keyof T[E]['responses']] extends [never] ? never : E;
}[keyof T] &
  string;

/** The request is optional when none of its members is required. */
type Arguments<R> = Partial<R> extends R ? [request?: R & CallOptions] : [request: R & CallOptions];

/** A typed client of one address. Paths, parameters, bodies and responses have the types of its OpenAPI document. */
export interface Api<T extends Operations<T>> {
  /** Sends a request. @returns the successful response, for bytes and events @throws ApiError */
  send<E extends keyof T & string>(endpoint: E, ...request: Arguments<T[E]['request']>): Promise<Response>;
  /** Sends a request. @returns the JSON body of the response @throws ApiError */
  json<E extends JsonEndpoint<T>>(endpoint: E, ...request: Arguments<T[E]['request']>): Promise<ResponseOf<T, E>>;
  /** Sends a request. @returns `data` of the JSON body @throws ApiError */
  data<E extends JsonEndpoint<T>>(endpoint: E, ...request: Arguments<T[E]['request']>): Promise<DataOf<T, E>>;
}

export interface ApiOptions {
  /** The base URL, such as `http://127.0.0.1:8080`; empty for the origin of the page. */
  readonly baseUrl: string;
  /** Returns headers for each attempt, such as the credentials of the caller. */
  readonly headers?: (endpoint: string) => Readonly<Record<string, string>>;
  /** Called before each attempt. A returned promise delays the request. */
  readonly beforeAttempt?: (endpoint: string, signal?: AbortSignal) => Promise<void> | undefined;
  /** Whether to retry a refused request. Default: never. */
  readonly shouldRetry?: (error: ApiError, endpoint: string) => boolean;
  readonly fetch?: typeof fetch;
}

/** A request of any operation. */
type Call = CallParts & CallOptions;

export function createApi<T extends Operations<T>>(options: ApiOptions): Api<T> {
  const { baseUrl, headers = () => ({}), beforeAttempt, shouldRetry = () => false } = options;

  async function send(endpoint: string, call: Call = {}): Promise<Response> {
    const { method, target, headers: ofCall, body } = encodeCall(endpoint, call);
    for (;;) {
      const wait = beforeAttempt?.(endpoint, call.signal);
      if (wait !== undefined) await wait;
      const init = {
        method,
        headers: { ...headers(endpoint), ...ofCall },
        body,
        signal: call.signal ?? null,
      };
      const response = await (options.fetch ?? fetch)(baseUrl + target, init);
      if (response.ok) return response;
      const error = readApiError(response.status, await response.text());
      if (!shouldRetry(error, endpoint)) throw error;
    }
  }

  async function json(endpoint: string, call?: Call): Promise<unknown> {
    return (await send(endpoint, call)).json();
  }

  async function data(endpoint: string, call?: Call): Promise<unknown> {
    return ((await json(endpoint, call)) as { data: unknown }).data;
  }

  // The document defines these types, and the service validates requests and responses by the same schemas.
  return { send, json, data } as unknown as Api<T>;
}

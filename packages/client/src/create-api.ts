import { type ApiError, readApiError } from './api-error.ts';

/** What the generated types say of one operation. */
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
  /** Sent as `Idempotency-Key`: a repeated call has no further effect and gets the same answer. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The operations that answer with JSON. */
type JsonEndpoint<T extends Operations<T>> = {
  [E in keyof T]: [keyof T[E]['responses']] extends [never] ? never : E;
}[keyof T] &
  string;

/** The request may be left out when nothing in it is required. */
type Arguments<R> = Partial<R> extends R ? [request?: R & CallOptions] : [request: R & CallOptions];

/** One address of the service. Paths, parameters, bodies and answers have the types of its OpenAPI document. */
export interface Api<T extends Operations<T>> {
  /** Sends a request. @returns the response of a success, for bytes and events @throws ApiError */
  send<E extends keyof T & string>(endpoint: E, ...request: Arguments<T[E]['request']>): Promise<Response>;
  /** Sends a request. @returns the JSON of the response @throws ApiError */
  json<E extends JsonEndpoint<T>>(endpoint: E, ...request: Arguments<T[E]['request']>): Promise<ResponseOf<T, E>>;
  /** Sends a request. @returns `data` of the JSON of the response @throws ApiError */
  data<E extends JsonEndpoint<T>>(endpoint: E, ...request: Arguments<T[E]['request']>): Promise<DataOf<T, E>>;
}

export interface ApiOptions {
  /** Base of all paths, such as `http://127.0.0.1:8080`; empty for the origin of the page. */
  readonly baseUrl: string;
  /** Headers for each attempt: the credentials of the caller. */
  readonly headers?: (endpoint: string) => Readonly<Record<string, string>>;
  /** Called before each attempt. The request waits for the promise; without one it is sent at once. */
  readonly beforeAttempt?: (endpoint: string, signal?: AbortSignal) => Promise<void> | undefined;
  /** Whether to send a refused request again. Default: never. */
  readonly shouldRetry?: (error: ApiError, endpoint: string) => boolean;
  readonly fetch?: typeof fetch;
}

/** A request of any operation. */
interface Call extends CallOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

export function createApi<T extends Operations<T>>(options: ApiOptions): Api<T> {
  const { baseUrl, headers = () => ({}), beforeAttempt, shouldRetry = () => false } = options;

  async function send(endpoint: string, call: Call = {}): Promise<Response> {
    const [method = '', template = ''] = endpoint.split(' ');
    const url = baseUrl + fillPath(template, call.path ?? {}) + describeQuery(call.query ?? {});
    for (;;) {
      const wait = beforeAttempt?.(endpoint, call.signal);
      if (wait !== undefined) await wait;
      const init = {
        method,
        headers: { ...headers(endpoint), ...headersOf(call) },
        body: encodeBody(call.body),
        signal: call.signal ?? null,
      };
      const response = await (options.fetch ?? fetch)(url, init);
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

  // The functions take and return what the document says; the service validates both by the same schemas.
  return { send, json, data } as unknown as Api<T>;
}

function fillPath(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

function describeQuery(query: NonNullable<Call['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function headersOf({ headers = {}, body, idempotencyKey }: Call): Record<string, string> {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...(body === undefined || body instanceof FormData ? {} : { 'Content-Type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    ...Object.fromEntries(given),
  };
}

/** As JSON, unless it is a form. */
function encodeBody(body: unknown): FormData | string | null {
  if (body === undefined) return null;
  return body instanceof FormData ? body : JSON.stringify(body);
}

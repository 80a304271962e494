import type { DataOf, JsonEndpoint, Operations, QueryOf, ResponseOf } from '../create-api.ts';
import { type Answer, type ApiList, type ApiRequest, type Page, toApiList, toApiRequest } from './api-request.ts';
import { discardBody } from './read-body.ts';
import type { Call, ReadResponse, RequestOptions, Transport } from './transport.ts';

/** The items of a list operation. */
export type ItemOf<T extends Operations<T>, E extends keyof T> = Extract<
  ResponseOf<T, E>,
  { data: unknown[] }
>['data'][number];

type PageOf<T extends Operations<T>, E extends keyof T> = Extract<ResponseOf<T, E>, { data: unknown[] }>;

/** The operations that answer with pages. */
type ListEndpoint<T extends Operations<T>> = {
  [E in JsonEndpoint<T>]: QueryOf<T, E> extends { after?: unknown } ? E : never;
}[JsonEndpoint<T>];

/** Typed calls of one address. The request has the members `path`, `query`, `headers` and `body` of the operation. */
export interface Calls<T extends Operations<T>> {
  /** Returns `data` of the JSON response. */
  data<E extends JsonEndpoint<T>>(
    endpoint: E,
    request: T[E]['request'],
    options?: RequestOptions,
  ): ApiRequest<DataOf<T, E>>;
  /** Returns the whole JSON response. */
  json<E extends JsonEndpoint<T>>(
    endpoint: E,
    request: T[E]['request'],
    options?: RequestOptions,
  ): ApiRequest<ResponseOf<T, E>>;
  /** Returns nothing. */
  done<E extends keyof T & string>(endpoint: E, request: T[E]['request'], options?: RequestOptions): ApiRequest<void>;
  /** Returns the response, whose body the caller reads. */
  raw<E extends keyof T & string>(
    endpoint: E,
    request: T[E]['request'],
    options?: RequestOptions,
  ): ApiRequest<Response>;
  list<E extends ListEndpoint<T>>(
    endpoint: E,
    request: T[E]['request'],
    idOf: (item: ItemOf<T, E>) => string,
    options?: RequestOptions,
  ): ApiList<ItemOf<T, E>, PageOf<T, E> & Page<ItemOf<T, E>>>;
  /** Sends a body that is not JSON. */
  upload<E extends JsonEndpoint<T>>(endpoint: E, call: Call): Promise<Answer<DataOf<T, E>>>;
}

export function createCalls<T extends Operations<T>>(transport: Transport): Calls<T> {
  const json = (endpoint: string, request: Call, options: RequestOptions = {}) =>
    toApiRequest(transport.send(endpoint, { ...request, ...options }, readJson));
  const data = (endpoint: string, request: Call, options: RequestOptions = {}) =>
    toApiRequest(transport.send(endpoint, { ...request, ...options }, readData));
  const untyped = {
    json,
    data,
    done: (endpoint: string, request: Call, options: RequestOptions = {}) =>
      toApiRequest(transport.send(endpoint, { ...request, ...options }, discardBody)),
    raw: (endpoint: string, request: Call, options: RequestOptions = {}) =>
      toApiRequest(
        transport.send(endpoint, { ...request, ...options, isStreamed: true }, async (response) => response),
      ),
    list: (endpoint: string, request: Call, idOf: (item: unknown) => string, options?: RequestOptions) => {
      const page = (after?: string) => {
        if (after !== undefined && request.query?.before !== undefined) {
          throw new TypeError('`for await` reads a list forwards: use `after` instead of `before`.');
        }
        const query = { ...request.query, ...(after === undefined ? {} : { after, count: undefined }) };
        return toApiRequest(transport.send(endpoint, { ...request, query, ...options }, readPage));
      };
      return toApiList(page(), idOf, page);
    },
    upload: (endpoint: string, call: Call) => transport.send(endpoint, call, readData),
  };
  // The document defines these types, and the service validates requests and responses by the same schemas.
  return untyped as unknown as Calls<T>;
}

type JsonReviver = Parameters<typeof JSON.parse>[1];

const longInteger = /[\s:,[]-?\d{16}/;

/** JavaScript would round the number, and an id with other digits names another object. */
function longIntegerAsText(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source = '' } = context ?? {};
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value;
}

const readJson: ReadResponse<unknown> = async (response, refuse) => {
  const text = await response.text();
  try {
    return longInteger.test(text) ? JSON.parse(text, longIntegerAsText as JsonReviver) : JSON.parse(text);
  } catch {
    throw refuse(text);
  }
};

const readData: ReadResponse<unknown> = async (response, refuse) => {
  const body = await readJson(response, refuse);
  if (typeof body === 'object' && body !== null && 'data' in body) return body.data;
  throw refuse(JSON.stringify(body));
};

const readPage: ReadResponse<Page<unknown>> = async (response, refuse) => {
  const body = await readJson(response, refuse);
  if (isPage(body)) return body;
  throw refuse(JSON.stringify(body));
};

function isPage(body: unknown): body is Page<unknown> {
  return typeof body === 'object' && body !== null && 'data' in body && Array.isArray(body.data) && 'has_more' in body;
}

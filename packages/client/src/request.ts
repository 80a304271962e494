/** The service answered with its error envelope, or with something that is none. */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** A code of docs/reference/errors.md; `UNREADABLE_ANSWER` when the answer was not ours. */
  readonly code: string;
  readonly details: ReadonlyArray<Record<string, unknown>>;
  readonly requestId: string | null;

  constructor(
    status: number,
    error: { code: string; message: string; details?: Array<Record<string, unknown>>; request_id?: string },
  ) {
    super(error.message);
    this.name = 'ApiError';
    this.status = status;
    this.code = error.code;
    this.details = error.details ?? [];
    this.requestId = error.request_id ?? null;
  }
}

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof fetch;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** Sent as JSON, unless it is a FormData. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One call; the answer as it is. Nothing is retried: an upload must not happen twice by itself. */
export async function send(connection: Connection, call: Call): Promise<Response> {
  const url = new URL(connection.baseUrl + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const headers = new Headers(call.headers);
  if (connection.apiKey !== undefined) headers.set('Authorization', bearer(connection.apiKey));
  const isForm = call.body instanceof FormData;
  if (call.body !== undefined && !isForm) headers.set('Content-Type', 'application/json');
  const answer = await connection.fetch(url, {
    method: call.method,
    headers,
    signal: call.signal ?? null,
    body: call.body === undefined ? null : isForm ? (call.body as FormData) : JSON.stringify(call.body), // isForm
  });
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

/** What `Headers` says of a value that it does not take repeats the value. */
function bearer(apiKey: string): string {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('The API key holds characters that no key has.');
  return `Bearer ${apiKey}`;
}

/** One call; its JSON. `T` is what the contract says of this operation. */
export async function sendForJson<T>(connection: Connection, call: Call): Promise<T> {
  return (await (await send(connection, call)).json()) as T; // the server validates what it sends
}

async function errorOf(answer: Response): Promise<ApiError> {
  const text = await answer.text();
  try {
    const body = JSON.parse(text) as { error?: ConstructorParameters<typeof ApiError>[1] };
    if (body.error !== undefined) return new ApiError(answer.status, body.error);
  } catch {
    // Not JSON: something between us and the service answered.
  }
  return new ApiError(answer.status, { code: 'UNREADABLE_ANSWER', message: `HTTP ${answer.status}` });
}

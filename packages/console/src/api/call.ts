import { ApiError } from '@quartermaster/client';
import { csrfHeader, projectHeader, projectParameter } from '@quartermaster/contract';

export { ApiError };

type QueryValue = string | number | boolean | undefined;

export interface Call {
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** The project whose things are shown; every request of the session names it. */
let chosenProject = '';
export function chooseProject(projectId: string): void {
  chosenProject = projectId;
}

/** Called when an answer says that the session is over. */
let onSessionOver: () => void = () => undefined;
export function whenSessionIsOver(listener: () => void): void {
  onSessionOver = listener;
}

/** The headers of a session's request. */
export function sessionHeaders(): Record<string, string> {
  return { [csrfHeader]: '1', ...(chosenProject === '' ? {} : { [projectHeader]: chosenProject }) };
}

export function withQuery(path: string, query: Call['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** An address that the browser itself follows: a download, a picture. */
export function linkTo(path: string, query: Call['query'] = {}): string {
  return withQuery(path, { ...query, [projectParameter]: chosenProject });
}

/** One call to this address; the answer as it is. @throws ApiError */
export async function send(method: string, path: string, call: Call = {}): Promise<Response> {
  const type = call.body === undefined ? {} : { 'Content-Type': 'application/json' };
  const headers = { ...sessionHeaders(), ...type, ...call.headers };
  const answer = await fetch(withQuery(path, call.query), {
    method,
    headers,
    body: call.body === undefined ? null : JSON.stringify(call.body),
    signal: call.signal ?? null,
  });
  if (answer.ok) return answer;
  throw toApiError(answer.status, await answer.text());
}

/** What an answer that is no success says. */
export function toApiError(status: number, text: string): ApiError {
  const error = readError(status, text);
  if (error.code === 'SESSION_VALIDATION_FAILED') onSessionOver();
  return error;
}

function readError(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as { error?: ConstructorParameters<typeof ApiError>[1] };
    if (error !== undefined) return new ApiError(status, error);
  } catch {
    // Not JSON: something between the browser and the service answered.
  }
  return new ApiError(status, { code: 'UNREADABLE_ANSWER', message: `HTTP ${status}` });
}

/** One call; `data` of its envelope. `T` is what the contract says of the path. */
export async function ask<T>(method: string, path: string, call: Call = {}): Promise<T> {
  const answer = (await (await send(method, path, call)).json()) as { data: T }; // the server validates what it sends
  return answer.data;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** One page of a list. */
export async function askPage<T>(path: string, call: Call = {}): Promise<Page<T>> {
  return (await (await send('GET', path, call)).json()) as Page<T>; // the server validates what it sends
}

import { ApiError } from '@quartermaster/client';
import { consoleTokenHeader, csrfHeader, projectHeader } from '@quartermaster/contract';
import { readConsoleToken } from './console-token.ts';
import { endSession, untilSignedIn } from './session-gate.ts';

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

export function currentProject(): string {
  return chosenProject;
}

/** The headers of a session's request. */
export function sessionHeaders(projectId = chosenProject): Record<string, string> {
  const token = readConsoleToken();
  return {
    [csrfHeader]: '1',
    ...(token === '' ? {} : { [consoleTokenHeader]: token }),
    ...(projectId === '' ? {} : { [projectHeader]: projectId }),
  };
}

export function withQuery(path: string, query: Call['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The calls that begin, end and read a session. Their callers handle a refusal themselves. */
const sessionPath = /^\/v1\/(?:session|setup)\b/;

/**
 * Sends one call to this address and returns its answer. A call that is refused because the session has ended had no effect and is
 * sent again after the next sign-in. @throws ApiError
 */
export async function send(method: string, path: string, call: Call = {}): Promise<Response> {
  if (sessionPath.test(path)) return sendOnce(method, path, call);
  for (;;) {
    await untilSignedIn(call.signal);
    try {
      return await sendOnce(method, path, call);
    } catch (error) {
      if (!isSessionOver(error)) throw error;
      endSession();
    }
  }
}

/** A call without the session cookie is refused like one without a key. */
export function isSessionOver(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status !== 401) return false;
  return error.code === 'SESSION_VALIDATION_FAILED' || error.code === 'APIKEY_VALIDATION_FAILED';
}

async function sendOnce(method: string, path: string, call: Call): Promise<Response> {
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

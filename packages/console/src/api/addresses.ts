import { ApiError, createApi, type FilesApi, type PluginsApi } from '@quartermaster/client/api';
import { consoleTokenHeader, csrfHeader, projectHeader } from '@quartermaster/contract';
import { basePath } from '../base-path.ts';
import { readConsoleToken } from './console-token.ts';
import { endSession, untilSignedIn } from './session-gate.ts';

/** The project whose objects are shown; every request of the session names it. */
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

/** A call without the session cookie is refused like one without a key. */
export function isSessionOver(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status !== 401) return false;
  return error.code === 'SESSION_VALIDATION_FAILED' || error.code === 'APIKEY_VALIDATION_FAILED';
}

/** Whether an object that was asked for does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** The calls that begin, end and read a session. Their callers handle a refusal themselves. */
const isSessionCall = (endpoint: string) => /^\w+ \/v1\/(?:session|setup|sign_in)\b/.test(endpoint);

/** A call that is refused because the session has ended had no effect: it is sent again after the next sign-in. */
const options = {
  headers: () => sessionHeaders(),
  beforeAttempt: (endpoint: string, signal?: AbortSignal) =>
    isSessionCall(endpoint) ? undefined : untilSignedIn(signal),
  shouldRetry: (error: ApiError, endpoint: string) => {
    if (isSessionCall(endpoint) || !isSessionOver(error)) return false;
    endSession();
    return true;
  },
} as const;

/** The files address: the page's own. */
export const filesOptions = { baseUrl: basePath, ...options } as const;
export const filesApi = createApi<FilesApi>(filesOptions);

/** The files address for a project that may no longer be the chosen one. */
export function filesApiOf(projectId: string) {
  return createApi<FilesApi>({ baseUrl: basePath, ...options, headers: () => sessionHeaders(projectId) });
}

/** The plugins address, which the files address serves to the console below this path. ADR 0039. */
export const pluginsApi = createApi<PluginsApi>({ baseUrl: `${basePath}/plugins`, ...options });

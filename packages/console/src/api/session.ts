import { ApiError } from '@quartermaster/client/api';
import type { NewSession, OwnSession } from '@quartermaster/contract';
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { basePath, storageKey } from '../base-path.ts';
import { filesApi, isSessionOver } from './addresses.ts';
import { forgetConsoleToken, keepConsoleToken } from './console-token.ts';

/** Signed in, out, or not set up yet. */
export type SessionState =
  | { readonly kind: 'signed-in'; readonly session: OwnSession }
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'not-set-up' };

export const sessionKey = ['session'];

async function findSession(): Promise<SessionState> {
  try {
    return { kind: 'signed-in', session: await filesApi.data('GET /v1/session') };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  }
  try {
    await filesApi.json('GET /v1/setup');
    return { kind: 'not-set-up' };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { kind: 'signed-out' };
    throw error;
  }
}

/** Keeps the second token of a session that one of the calls has begun. */
export async function keepSession(answer: Promise<Pick<NewSession, 'console_token'>>): Promise<void> {
  keepConsoleToken((await answer).console_token);
}

const choiceKeys = ['quartermaster-language', 'mantine-color-scheme-value'];

/**
 * Ends this session or all sessions. The browser forgets its data immediately, even if the service does not respond.
 * @throws ApiError
 */
export async function leaveSession(queries: QueryClient, everywhere: boolean): Promise<void> {
  const query = { everywhere: everywhere || undefined };
  const answer = filesApi.json('DELETE /v1/session', { query });
  const choices = choiceKeys.map((key) => [key, localStorage.getItem(key)] as const);
  forgetConsoleToken();
  localStorage.removeItem(storageKey('project'));
  queries.setQueryData<SessionState>(sessionKey, { kind: 'signed-out' });
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
  try {
    await answer;
  } catch (error) {
    // A session that has ended already needs no error.
    if (!isSessionOver(error)) throw error;
  }
  // The response clears the storage of this origin, except below a base path. Language and theme are not data of the session.
  for (const [key, value] of choices) if (value !== null) localStorage.setItem(key, value);
  window.location.assign(`${basePath}/`);
}

export function useSessionState() {
  return useQuery({ queryKey: sessionKey, queryFn: findSession, staleTime: Number.POSITIVE_INFINITY });
}

export function useProjects(enabled = true) {
  return useQuery({
    queryKey: ['projects'],
    queryFn: () => filesApi.data('GET /v1/projects', { query: { limit: 100, order: 'asc' } }),
    enabled,
  });
}

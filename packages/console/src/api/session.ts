import type { NewSession, Project, Session } from '@quartermaster/contract';
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { ApiError, ask, askPage, isSessionOver } from './call.ts';
import { forgetConsoleToken, keepConsoleToken } from './console-token.ts';

/** Signed in, out, or not set up yet. */
export type SessionState =
  | { readonly kind: 'signed-in'; readonly session: Session }
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'not-set-up' };

export const sessionKey = ['session'];

async function findSession(): Promise<SessionState> {
  try {
    return { kind: 'signed-in', session: await ask<Session>('GET', '/v1/session') };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  }
  try {
    await ask('GET', '/v1/setup');
    return { kind: 'not-set-up' };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { kind: 'signed-out' };
    throw error;
  }
}

/** Begins a session with one of the calls that do, and keeps its second token. */
export async function beginSession(path: string, body: unknown): Promise<Session> {
  const { console_token, ...session } = await ask<NewSession>('POST', path, { body });
  keepConsoleToken(console_token);
  return session;
}

const choiceKeys = ['quartermaster-language', 'mantine-color-scheme-value'];

/**
 * Ends the session, or all of them. What this browser knows of it is forgotten at once, also when the service does not answer.
 * @throws ApiError
 */
export async function leaveSession(queries: QueryClient, everywhere: boolean): Promise<void> {
  const answer = ask('DELETE', '/v1/session', everywhere ? { query: { everywhere } } : {});
  const choices = choiceKeys.map((key) => [key, localStorage.getItem(key)] as const);
  forgetConsoleToken();
  queries.setQueryData<SessionState>(sessionKey, { kind: 'signed-out' });
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
  try {
    await answer;
  } catch (error) {
    // One that has ended already is as good.
    if (!isSessionOver(error)) throw error;
  }
  // The answer clears the storage of this origin; language and colours are no data of the session.
  for (const [key, value] of choices) if (value !== null) localStorage.setItem(key, value);
  window.location.assign('/');
}

export function useSessionState() {
  return useQuery({ queryKey: sessionKey, queryFn: findSession, staleTime: Number.POSITIVE_INFINITY });
}

export function useProjects(enabled = true) {
  return useQuery({
    queryKey: ['projects'],
    queryFn: async () => (await askPage<Project>('/v1/projects', { query: { limit: 100, order: 'asc' } })).data,
    enabled,
  });
}

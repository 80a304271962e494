import type { Project, Session } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { ApiError, ask, askPage } from './call.ts';

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

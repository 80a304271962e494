import type { Account } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { filesApi } from './addresses.ts';
import { useInfiniteList } from './infinite-list.ts';
import { sessionKey } from './session.ts';

/** The accounts of the service, which only its administrators can list. */
export function useAccounts(enabled = true) {
  return useInfiniteList<Account>({
    queryKey: ['people', 'accounts'],
    load: (query, signal) => filesApi.json('GET /v1/accounts', { query, signal }),
    idOf: ({ account_id }) => account_id,
    enabled,
  });
}

/** The people with a role in a project. */
export function useMembers(projectId: string) {
  return useInfiniteList({
    queryKey: ['people', 'members', projectId],
    load: (query, signal) =>
      filesApi.json('GET /v1/projects/{project_id}/members', { path: { project_id: projectId }, query, signal }),
    idOf: ({ account_id }) => account_id,
  });
}

/** Reads again what a change of people affects. The person may have changed their own rights. */
export function useRefreshPeople() {
  const queries = useQueryClient();
  return async () => {
    const keys = [sessionKey, ['projects'], ['people']];
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
}

import type { CredentialProfile } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { pluginsApi } from './addresses.ts';

export const profilesKey = ['credential-profiles'];

/** The credential profiles of the project for a bundle; none where the caller may not see them. */
export function useProfiles(bundleId: string): readonly CredentialProfile[] {
  return (useFirstProfiles().data?.data ?? []).filter(({ bundle_id }) => bundle_id === bundleId);
}

const noProfiles: ReadonlySet<string> = new Set();

/** The ids of the bundles for which the project has a credential profile. */
export function useBundlesWithProfiles(): ReadonlySet<string> {
  const { data } = useFirstProfiles();
  return useMemo(
    () => (data === undefined ? noProfiles : new Set(data.data.map(({ bundle_id }) => bundle_id))),
    [data],
  );
}

/** Whether the service lacks the encryption key without which it stores no credentials. */
export function useIsKeyMissing(): boolean {
  return useFirstProfiles().data?.encryption_configured === false;
}

function useFirstProfiles() {
  return useQuery({
    queryKey: [...profilesKey, 'first'],
    queryFn: () => pluginsApi.json('GET /v1/credential_profiles', { query: { limit: 100, order: 'asc' } }),
    retry: false,
  });
}

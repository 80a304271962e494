import type { CredentialProfile } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { pluginsApi } from './addresses.ts';

export const profilesKey = ['credential-profiles'];

/** The credential profiles of the project for a bundle; none where the caller may not see them. */
export function useProfiles(bundleId: string): readonly CredentialProfile[] {
  const profiles = useQuery({
    queryKey: [...profilesKey, 'first'],
    queryFn: () => pluginsApi.data('GET /v1/credential_profiles', { query: { limit: 100, order: 'asc' } }),
    retry: false,
  });
  return (profiles.data ?? []).filter(({ bundle_id }) => bundle_id === bundleId);
}

import type { CredentialProfile } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { askPage } from './call.ts';

/** The credential profiles that the project keeps for a bundle; none where they may not be seen. */
export function useProfiles(bundleId: string): readonly CredentialProfile[] {
  const profiles = useQuery({
    queryKey: ['/plugins/v1/credential_profiles'],
    queryFn: async () => {
      const query = { limit: 100, order: 'asc' };
      return (await askPage<CredentialProfile>('/plugins/v1/credential_profiles', { query })).data;
    },
    retry: false,
  });
  return (profiles.data ?? []).filter(({ bundle_id }) => bundle_id === bundleId);
}

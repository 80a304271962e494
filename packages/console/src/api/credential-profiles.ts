import type { CredentialProfile } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { askPage } from './call.ts';

export const profilesPath = '/plugins/v1/credential_profiles';

/** The credential profiles that the project keeps for a bundle; none where they may not be seen. */
export function useProfiles(bundleId: string): readonly CredentialProfile[] {
  const profiles = useQuery({
    queryKey: [profilesPath],
    queryFn: async () => {
      const query = { limit: 100, order: 'asc' };
      return (await askPage<CredentialProfile>(profilesPath, { query })).data;
    },
    retry: false,
  });
  return (profiles.data ?? []).filter(({ bundle_id }) => bundle_id === bundleId);
}

import type { BundleInstallation, BundlePlan, BundlePlanRequest, InstalledBundle } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { filesApi } from './addresses.ts';
import { useInfiniteList } from './infinite-list.ts';

const installedKey = ['installed-bundles'];

/** The bundles that were installed from packages. Only administrators of the service can list them. */
export function useInstalledBundles(enabled: boolean) {
  return useInfiniteList<InstalledBundle>({
    queryKey: installedKey,
    load: (query, signal) => filesApi.json('GET /v1/installed_bundles', { query, signal }),
    idOf: ({ installed_bundle_id }) => installed_bundle_id,
    enabled,
  });
}

/** Downloads and reads a package. Nothing is installed. @throws ApiError */
export function planBundle(body: BundlePlanRequest): Promise<BundlePlan> {
  return filesApi.data('POST /v1/bundle_plans', { body });
}

export function installBundle(planId: string, body: BundleInstallation): Promise<InstalledBundle> {
  return filesApi.data('POST /v1/bundle_plans/{bundle_plan_id}/install', { path: { bundle_plan_id: planId }, body });
}

export async function removeBundle(bundleId: string): Promise<void> {
  await filesApi.json('DELETE /v1/installed_bundles/{bundle_id}', { path: { bundle_id: bundleId } });
}

/** Reads again what a change of the installed bundles affects. */
export function useRefreshBundles() {
  const queries = useQueryClient();
  return async () => {
    const keys = [installedKey, ['bundles'], ['plugins']];
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
}

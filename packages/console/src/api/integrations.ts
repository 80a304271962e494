import type {
  BundleInstallation,
  BundlePlan,
  BundlePlanRequest,
  FoundPackage,
  InstalledBundle,
} from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { filesApi, pluginsApi } from './addresses.ts';
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

/** The names of the recipes that ship with the service. */
export function useRecipes(): readonly string[] {
  const { data } = useQuery({
    queryKey: [...installedKey, 'recipes'],
    queryFn: () => filesApi.json('GET /v1/installed_bundles', { query: { limit: 1 } }),
  });
  return data?.recipes ?? [];
}

/** Finds packages of pieces in the registry. @throws ApiError */
export async function searchPackages(query: string): Promise<FoundPackage[]> {
  return (await filesApi.data('GET /v1/packages', { query: { query } })).packages;
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

const wait = { tries: 60, ms: 500 } as const;

/** Waits until the catalogue, which the service reads again at intervals, has the bundle in this version; null: not at all. */
async function untilServed(bundleId: string, version: string | null): Promise<void> {
  for (let tries = 0; tries < wait.tries; tries++) {
    const bundles = await pluginsApi.data('GET /v1/bundles');
    const served = bundles.find(({ bundle_id }) => bundle_id === bundleId)?.version ?? null;
    if (served === null ? version === null : version?.startsWith(served) === true) return;
    await new Promise((resolve) => setTimeout(resolve, wait.ms));
  }
}

/** Reads again what a change of an installed bundle affects. */
export function useRefreshBundles() {
  const queries = useQueryClient();
  return async (bundleId: string, version: string | null) => {
    await untilServed(bundleId, version);
    const keys = [installedKey, ['bundles'], ['plugins']];
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
}

import type { Bundle, Plugin } from '@quartermaster/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useLanguage } from '../language/language.tsx';
import { askPage } from './call.ts';

/** Every bundle, named in the language of the console. */
export function useBundles() {
  const { code } = useLanguage();
  return useQuery({
    queryKey: ['bundles', code],
    queryFn: async () => (await askPage<Bundle>('/plugins/v1/bundles', { query: { lang: code } })).data,
    // What is entered for a plugin stays when the language changes.
    placeholderData: keepPreviousData,
  });
}

/** Every plugin, or those of one bundle. */
export function usePlugins(bundleId?: string) {
  const { code } = useLanguage();
  return useQuery({
    queryKey: ['plugins', code, bundleId ?? ''],
    queryFn: async () =>
      (await askPage<Plugin>('/plugins/v1/plugins', { query: { lang: code, bundle_id: bundleId } })).data,
    placeholderData: (known, query) => (query?.queryKey[2] === (bundleId ?? '') ? known : undefined),
  });
}

import { asPlugins } from '@quartermaster/client/api';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useLanguage } from '../language/language.tsx';
import { pluginsApi } from './addresses.ts';

/** Every bundle, named in the language of the console. */
export function useBundles(retired = false) {
  const { code } = useLanguage();
  return useQuery({
    queryKey: ['bundles', code, retired],
    queryFn: () => pluginsApi.data('GET /v1/bundles', { query: { lang: code, retired } }),
    // A change of language keeps the input of a plugin's form.
    placeholderData: keepPreviousData,
  });
}

/** Every plugin, or those of one bundle. */
export function usePlugins(bundleId?: string) {
  const { code } = useLanguage();
  return useQuery({
    queryKey: ['plugins', code, bundleId ?? ''],
    queryFn: async () =>
      asPlugins(await pluginsApi.data('GET /v1/plugins', { query: { lang: code, bundle_id: bundleId } })),
    placeholderData: (known, query) => (query?.queryKey[2] === (bundleId ?? '') ? known : undefined),
  });
}

/** The plugins that match a question in plain words, best first; none without a question. */
export function useFoundPlugins(question: string) {
  const { code } = useLanguage();
  return useQuery({
    queryKey: ['plugins found', code, question],
    queryFn: async () =>
      question === ''
        ? []
        : asPlugins(await pluginsApi.data('GET /v1/plugins', { query: { lang: code, q: question, limit: 20 } })),
    placeholderData: keepPreviousData,
  });
}

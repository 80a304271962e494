import { withoutTrailingSlashes } from '@quartermaster/contract';
import type { BundleFailure, Catalogue, CompiledBundle, Icon } from '../catalogue.ts';
import { etagOf } from '../listing/etag.ts';
import { createListing } from '../listing/list-catalogue.ts';
import { createResolveLanguage, languagesOf } from '../manifest/languages.ts';
import type { PackedBundle } from './packed-bundle.ts';

export interface CatalogueParts {
  /** Both are sorted by id. */
  readonly sources: readonly PackedBundle[];
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly failures: readonly BundleFailure[];
  readonly kept: readonly string[];
  readonly loading: readonly string[];
  readonly publicUrl: string;
}

export function createCatalogue({ sources, bundles, publicUrl, ...facts }: CatalogueParts): Catalogue {
  const icons = new Map<string, Icon>();
  for (const { manifest, icon } of sources) {
    if (icon === null) continue;
    const { content: body, mediaType } = icon;
    icons.set(manifest.id, { body, etag: etagOf(body), mediaType });
  }
  const languages = sources.flatMap(({ manifest, plugins }) => [
    ...languagesOf(manifest.name, manifest.description),
    ...plugins.flatMap((plugin) => plugin.languages),
  ]);
  const base = withoutTrailingSlashes(publicUrl);
  return {
    ...facts,
    bundles,
    findBundle: (bundleId) => bundles.get(bundleId),
    findPlugin: (bundleId, pluginId) => bundles.get(bundleId)?.plugins.get(pluginId),
    findIcon: (bundleId) => icons.get(bundleId),
    ...createListing({
      bundles,
      publicUrl: base,
      resolveLanguage: createResolveLanguage(languages),
      iconUrl: (bundleId) => (icons.has(bundleId) ? `${base}/v1/bundles/${bundleId}/icon` : null),
    }),
  };
}

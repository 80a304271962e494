import type { Bundle, Plugin } from '@quartermaster/contract';
import type { Catalogue, CompiledBundle, CompiledPlugin, Prepared } from './catalogue.ts';
import { inLanguage, type ResolveLanguage } from './languages.ts';
import { prepareJson } from './prepare.ts';

export interface ListingDeps {
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly resolveLanguage: ResolveLanguage;
  /** Address of the icon of a bundle, null when it has none. */
  readonly iconUrl: (bundleId: string) => string | null;
}

type Listing = Pick<
  Catalogue,
  'describeBundle' | 'describePlugin' | 'bundleList' | 'pluginList' | 'bundleDetail' | 'pluginDetail'
>;

/** The answers of the catalogue, each serialised when it is first asked for in a language that some text has. */
export function createListing({ bundles, resolveLanguage, iconUrl }: ListingDeps): Listing {
  const prepared = new Map<string, Prepared>();
  const prepareOnce = (key: string, language: string, make: (language: string) => unknown): Prepared => {
    const name = `${language} ${key}`;
    const found = prepared.get(name);
    if (found !== undefined) return found;
    const made = prepareJson(make(language));
    prepared.set(name, made);
    return made;
  };
  const plugins = (list: Iterable<CompiledBundle>, language: string) =>
    Array.from(list).flatMap(({ plugins }) => Array.from(plugins.values(), (plugin) => pluginIn(plugin, language)));
  const bundle = (item: CompiledBundle, language: string) => bundleIn(item, { language, icon: iconUrl(item.id) });

  return {
    describeBundle: (item, asked) => bundle(item, resolveLanguage(asked)),
    describePlugin: (plugin, asked) => pluginIn(plugin, resolveLanguage(asked)),
    bundleList: (asked) =>
      prepareOnce('bundles', resolveLanguage(asked), (language) =>
        list(Array.from(bundles.values(), (item) => bundle(item, language))),
      ),
    pluginList: (bundleId, asked) => {
      const chosen = bundleId === undefined ? [...bundles.values()] : [bundles.get(bundleId)].filter(isPresent);
      if (bundleId !== undefined && chosen.length === 0) return undefined;
      return prepareOnce(`plugins ${bundleId ?? ''}`, resolveLanguage(asked), (language) =>
        list(plugins(chosen, language)),
      );
    },
    bundleDetail: (bundleId, asked) => {
      const found = bundles.get(bundleId);
      if (found === undefined) return undefined;
      return prepareOnce(`bundle ${bundleId}`, resolveLanguage(asked), (language) => ({
        ...list(plugins([found], language)),
        bundle: bundle(found, language),
      }));
    },
    pluginDetail: (bundleId, pluginId, asked) => {
      const found = bundles.get(bundleId)?.plugins.get(pluginId);
      if (found === undefined) return undefined;
      return prepareOnce(`plugin ${bundleId} ${pluginId}`, resolveLanguage(asked), (language) => ({
        status: 'success',
        data: pluginIn(found, language),
      }));
    },
  };
}

/** The list envelope; the catalogue is answered whole. */
function list<T>(data: readonly T[]) {
  return { status: 'success', data, fetched_count: data.length, has_more: false };
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

const noCredentials = { type: 'object', properties: {} };

function bundleIn(
  { id, manifest, plugins, isolation }: CompiledBundle,
  view: { language: string; icon: string | null },
) {
  return {
    object: 'Bundle',
    bundle_id: id,
    name: inLanguage(manifest.name, view.language),
    description: inLanguage(manifest.description, view.language),
    provider: manifest.provider,
    developer: manifest.developer,
    credentials_schema: { ...(manifest.credentials_schema ?? noCredentials) },
    hosts: [...manifest.hosts],
    num_plugins: plugins.size,
    version: manifest.version,
    icon_url: view.icon,
    isolation,
  } satisfies Bundle;
}

function pluginIn({ bundle, id, manifest }: CompiledPlugin, language: string) {
  return {
    object: 'Plugin',
    bundle_id: bundle.id,
    plugin_id: id,
    name: inLanguage(manifest.name, language),
    description: inLanguage(manifest.description, language),
    input_schema: { ...manifest.input_schema },
    output_schema: { ...manifest.output_schema },
    effects: manifest.effects,
    idempotent: manifest.idempotent,
  } satisfies Plugin;
}

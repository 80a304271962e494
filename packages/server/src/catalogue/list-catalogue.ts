import type { Bundle, DefinitionFormat, Plugin } from '@quartermaster/contract';
import { describeBundleAsOpenApi } from './bundle-openapi.ts';
import type { Catalogue, CompiledBundle, CompiledPlugin, Prepared } from './catalogue.ts';
import { functionFormats } from './function-formats/formats.ts';
import { inLanguage, type ResolveLanguage } from './languages.ts';
import { prepareJson } from './prepare.ts';

export interface ListingDeps {
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly resolveLanguage: ResolveLanguage;
  /** Address of the icon of a bundle, null when it has none. */
  readonly iconUrl: (bundleId: string) => string | null;
  /** Where clients reach this address. */
  readonly publicUrl: string;
}

type Listing = Pick<
  Catalogue,
  | 'describeBundle'
  | 'describePlugin'
  | 'definePlugin'
  | 'bundleList'
  | 'pluginList'
  | 'definitionList'
  | 'bundleDetail'
  | 'bundleOpenApi'
  | 'pluginDetail'
>;

/** The answers of the catalogue, each serialised when it is first asked for in a language that some text has. */
export function createListing({ bundles, resolveLanguage, iconUrl, publicUrl }: ListingDeps): Listing {
  const prepareOnce = createPreparing(Number.POSITIVE_INFINITY);
  // Few ask for these, and there is one a bundle, language and format: the oldest make room.
  const prepareSome = createPreparing(maxDefinitionLists);
  const chosenBundles = (bundleId: string | undefined) =>
    bundleId === undefined ? [...bundles.values()] : [bundles.get(bundleId)].filter(isPresent);
  const plugins = (list: Iterable<CompiledBundle>, language: string) =>
    Array.from(list).flatMap(({ plugins }) => Array.from(plugins.values(), (plugin) => pluginIn(plugin, language)));
  const bundle = (item: CompiledBundle, language: string) => bundleIn(item, { language, icon: iconUrl(item.id) });

  return {
    describeBundle: (item, asked) => bundle(item, resolveLanguage(asked)),
    describePlugin: (plugin, asked) => pluginIn(plugin, resolveLanguage(asked)),
    definePlugin: (plugin, format, asked) => defineIn(plugin, format, resolveLanguage(asked)),
    bundleList: (asked) =>
      prepareOnce('bundles', resolveLanguage(asked), (language) =>
        list(Array.from(bundles.values(), (item) => bundle(item, language))),
      ),
    pluginList: (bundleId, asked) => {
      const chosen = chosenBundles(bundleId);
      if (bundleId !== undefined && chosen.length === 0) return undefined;
      return prepareOnce(`plugins ${bundleId ?? ''}`, resolveLanguage(asked), (language) =>
        list(plugins(chosen, language)),
      );
    },
    definitionList: (format, bundleId, asked) => {
      const chosen = chosenBundles(bundleId);
      if (bundleId !== undefined && chosen.length === 0) return undefined;
      return prepareSome(`${format} ${bundleId ?? ''}`, resolveLanguage(asked), (language) => {
        const plugins = chosen.flatMap((item) => [...item.plugins.values()]);
        return list(plugins.map((plugin) => defineIn(plugin, format, language)));
      });
    },
    bundleOpenApi: (bundleId, asked) => {
      const bundle = bundles.get(bundleId);
      if (bundle === undefined) return undefined;
      return prepareSome(`openapi ${bundleId}`, resolveLanguage(asked), (language) =>
        describeBundleAsOpenApi({ bundle, plugins: plugins([bundle], language), language, publicUrl }),
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

const maxDefinitionLists = 256;

type PrepareOnce = (key: string, language: string, make: (language: string) => unknown) => Prepared;

function createPreparing(limit: number): PrepareOnce {
  const prepared = new Map<string, Prepared>();
  return (key, language, make) => {
    const name = `${language} ${key}`;
    const found = prepared.get(name);
    if (found !== undefined) return found;
    const made = prepareJson(make(language));
    const [oldest] = prepared.keys();
    if (prepared.size >= limit && oldest !== undefined) prepared.delete(oldest);
    prepared.set(name, made);
    return made;
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
  { id, manifest, hosts, hostsBy, plugins, isolation }: CompiledBundle,
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
    hosts: [...hosts],
    hosts_by: hostsBy,
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

function defineIn(plugin: CompiledPlugin, format: DefinitionFormat, language: string) {
  const reachesOut = plugin.bundle.callsOut;
  const { definition, losses } = functionFormats[format]({ plugin: pluginIn(plugin, language), reachesOut });
  // TaskingAI's clients read the records themselves, so nothing stands around them.
  if (format === 'taskingai') return { ...definition, losses };
  return { object: 'PluginDefinition', bundle_id: plugin.bundle.id, plugin_id: plugin.id, format, definition, losses };
}

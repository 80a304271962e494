import type { Bundle, DefinitionFormat } from '@quartermaster/contract';
import { successEnvelope } from '../../../platform/envelope.ts';
import { createJsonCache, type JsonCache } from '../../../platform/json/json-cache.ts';
import type { Catalogue, CompiledBundle, CompiledPlugin, PluginLists } from '../catalogue.ts';
import { inLanguage, type ResolveLanguage } from '../manifest/languages.ts';
import { functionFormats } from '../provider-formats/formats.ts';
import { describeBundleAsOpenApi } from './bundle-openapi.ts';
import { listOf } from './list-of.ts';
import { pluginRecord, type RecordOptions } from './plugin-record.ts';

export interface ListingDeps {
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly resolveLanguage: ResolveLanguage;
  /** Returns the URL of a bundle's icon; null when it has none. */
  readonly iconUrl: (bundleId: string) => string | null;
  /** The URL under which clients reach this address. */
  readonly publicUrl: string;
  /** Default: lists of its own. */
  readonly lists?: JsonCache;
}

type Listing = PluginLists & Pick<Catalogue, 'describeBundle' | 'bundleList' | 'withoutFiles'>;

/** Builds the lists of the catalogue. Each is built at its first request, once per language that occurs in the texts. */
export function createListing(deps: ListingDeps): Listing {
  const { bundles, resolveLanguage, iconUrl } = deps;
  const lists = deps.lists ?? createJsonCache();
  const describe = (item: CompiledBundle, language: string) => bundleIn(item, { language, icon: iconUrl(item.id) });
  const options = { ...deps, lists, describe };
  return {
    describeBundle: (item, requested) => describe(item, resolveLanguage(requested)),
    async bundleList(requested) {
      const language = resolveLanguage(requested);
      return await lists.get(`${language} bundles`, () =>
        listOf([...bundles.values()], (item) => describe(item, language)),
      );
    },
    ...createPluginLists(options, true),
    withoutFiles: createPluginLists(options, false),
  };
}

interface PluginListsDeps extends ListingDeps {
  readonly lists: JsonCache;
  readonly describe: (bundle: CompiledBundle, language: string) => Bundle;
}

function createPluginLists(deps: PluginListsDeps, namesFiles: boolean): PluginLists {
  const { bundles, resolveLanguage, publicUrl, describe } = deps;
  const lists: JsonCache = {
    get: (name, pieces) => deps.lists.get(namesFiles ? name : `${name} without files`, pieces),
  };
  const optionsIn = (language: string) => ({ language, namesFiles });
  /** Undefined for an unknown bundle. */
  const chosen = (bundleId: string | undefined) => {
    if (bundleId === undefined) return [...bundles.values()];
    const found = bundles.get(bundleId);
    return found === undefined ? undefined : [found];
  };

  return {
    describePlugin: (plugin, requested) => pluginIn(plugin, optionsIn(resolveLanguage(requested))),
    definePlugin: (plugin, format, requested) => defineIn(plugin, format, optionsIn(resolveLanguage(requested))),
    async pluginList(bundleId, requested) {
      const language = resolveLanguage(requested);
      const items = chosen(bundleId);
      if (items === undefined) return undefined;
      return await lists.get(`${language} plugins ${bundleId ?? ''}`, () =>
        listOf(pluginsOf(items), (plugin) => pluginIn(plugin, optionsIn(language))),
      );
    },
    async definitionList(format, bundleId, requested) {
      const language = resolveLanguage(requested);
      const items = chosen(bundleId);
      if (items === undefined) return undefined;
      return await lists.get(`${language} ${format} ${bundleId ?? ''}`, () =>
        listOf(pluginsOf(items), (plugin) => defineIn(plugin, format, optionsIn(language))),
      );
    },
    async bundleOpenApi(bundleId, requested) {
      const language = resolveLanguage(requested);
      const found = bundles.get(bundleId);
      if (found === undefined) return undefined;
      return await lists.get(`${language} openapi ${bundleId}`, () =>
        describeBundleAsOpenApi({ bundle: found, ...optionsIn(language), publicUrl }),
      );
    },
    async bundleDetail(bundleId, requested) {
      const language = resolveLanguage(requested);
      const found = bundles.get(bundleId);
      if (found === undefined) return undefined;
      return await lists.get(`${language} bundle ${bundleId}`, () =>
        listOf(pluginsOf([found]), (plugin) => pluginIn(plugin, optionsIn(language)), {
          bundle: describe(found, language),
        }),
      );
    },
    async pluginDetail(bundleId, pluginId, requested) {
      const language = resolveLanguage(requested);
      const found = bundles.get(bundleId)?.plugins.get(pluginId);
      if (found === undefined) return undefined;
      return await lists.get(`${language} plugin ${bundleId} ${pluginId}`, () => [
        JSON.stringify(successEnvelope(pluginIn(found, optionsIn(language)))),
      ]);
    },
  };
}

function pluginsOf(bundles: readonly CompiledBundle[]): CompiledPlugin[] {
  return bundles.flatMap(({ plugins }) => [...plugins.values()]);
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

function pluginIn({ bundle, manifest }: CompiledPlugin, options: RecordOptions) {
  return pluginRecord(bundle.id, manifest, options);
}

function defineIn(plugin: CompiledPlugin, format: DefinitionFormat, options: RecordOptions) {
  const reachesOut = plugin.bundle.callsOut;
  const { definition, losses } = functionFormats[format]({ plugin: pluginIn(plugin, options), reachesOut });
  // The clients of TaskingAI read the records directly, so they have no envelope.
  if (format === 'taskingai') return { ...definition, losses };
  return { object: 'PluginDefinition', bundle_id: plugin.bundle.id, plugin_id: plugin.id, format, definition, losses };
}

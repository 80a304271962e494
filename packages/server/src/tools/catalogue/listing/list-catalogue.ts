import type { Bundle, DefinitionFormat } from '@quartermaster/contract';
import { successEnvelope } from '../../../platform/envelope.ts';
import { type CachedJson, createJsonCache, type JsonCache } from '../../../platform/json/json-cache.ts';
import { sandboxRemedy } from '../../../platform/processes/isolation/probe.ts';
import { type Catalogue, type CompiledBundle, type CompiledPlugin, isRetired, type PluginLists } from '../catalogue.ts';
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
    async bundleList(requested, withRetired = false) {
      const language = resolveLanguage(requested);
      const chosen = [...bundles.values()].filter((bundle) => withRetired || !isRetired(bundle));
      const name = withRetired ? 'bundles with retired' : 'bundles';
      return await lists.get(`${language} ${name}`, () => listOf(chosen, (item) => describe(item, language)));
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
  const optionsIn = (language: string) => ({ language, namesFiles });
  const describePlugin = (plugin: CompiledPlugin, language: string) => pluginIn(plugin, optionsIn(language));

  /** Builds the answer about `subject` once per language. Undefined for an unknown one. */
  async function answer<Subject>(
    name: string,
    requested: string,
    subject: Subject | undefined,
    build: (subject: Subject, language: string) => Iterable<string>,
  ): Promise<CachedJson | undefined> {
    if (subject === undefined) return undefined;
    const language = resolveLanguage(requested);
    const suffix = namesFiles ? '' : ' without files';
    return await deps.lists.get(`${language} ${name}${suffix}`, () => build(subject, language));
  }

  function chosen(bundleId: string | undefined): CompiledBundle[] | undefined {
    if (bundleId === undefined) return [...bundles.values()];
    const found = bundles.get(bundleId);
    return found === undefined || isRetired(found) ? undefined : [found];
  }

  return {
    describePlugin: (plugin, requested) => describePlugin(plugin, resolveLanguage(requested)),
    definePlugin: (plugin, format, requested) => defineIn(plugin, format, optionsIn(resolveLanguage(requested))),
    pluginList: (bundleId, requested) =>
      answer(`plugins ${bundleId ?? ''}`, requested, chosen(bundleId), (found, language) =>
        listOf(pluginsOf(found), (plugin) => describePlugin(plugin, language)),
      ),
    definitionList: (format, bundleId, requested) =>
      answer(`${format} ${bundleId ?? ''}`, requested, chosen(bundleId), (found, language) =>
        listOf(pluginsOf(found), (plugin) => defineIn(plugin, format, optionsIn(language))),
      ),
    bundleOpenApi: (bundleId, requested) =>
      answer(`openapi ${bundleId}`, requested, chosen(bundleId)?.[0], (bundle, language) =>
        describeBundleAsOpenApi({ bundle, ...optionsIn(language), publicUrl }),
      ),
    bundleDetail: (bundleId, requested) =>
      answer(`bundle ${bundleId}`, requested, bundles.get(bundleId), (bundle, language) => {
        const more = { bundle: describe(bundle, language) };
        return listOf(pluginsOf([bundle]), (plugin) => describePlugin(plugin, language), more);
      }),
    pluginDetail: (bundleId, pluginId, requested) =>
      answer(
        `plugin ${bundleId} ${pluginId}`,
        requested,
        bundles.get(bundleId)?.plugins.get(pluginId),
        (plugin, language) => [JSON.stringify(successEnvelope(describePlugin(plugin, language)))],
      ),
  };
}

function pluginsOf(bundles: readonly CompiledBundle[]): CompiledPlugin[] {
  return bundles.flatMap(({ plugins }) => [...plugins.values()]);
}

const noCredentials = { type: 'object', properties: {} };

function bundleIn(bundle: CompiledBundle, view: { language: string; icon: string | null }) {
  const { id, manifest, hosts, hostsBy, plugins, isolation } = bundle;
  return {
    object: 'Bundle',
    bundle_id: id,
    name: inLanguage(manifest.name, view.language),
    description: inLanguage(manifest.description, view.language),
    provider: manifest.provider,
    developer: manifest.developer,
    categories: [...(manifest.categories ?? [])],
    credentials_schema: { ...(manifest.credentials_schema ?? noCredentials) },
    hosts: [...hosts],
    hosts_by: hostsBy,
    num_plugins: plugins.size,
    version: manifest.version,
    icon_url: view.icon,
    isolation,
    unavailable: describeObstacle(bundle),
    verified: manifest.api?.verified ?? null,
    retired: manifest.retired ?? null,
    ...pieceIn(manifest),
  } satisfies Bundle;
}

function pieceIn({ piece, credential_places: places }: CompiledBundle['manifest']): Pick<Bundle, 'piece'> {
  if (piece === undefined) return {};
  const { package: name, version } = piece;
  const reach = {
    credential_hosts: [...(places?.hosts ?? [])],
    credential_places: (places?.places ?? []).map(textOfPlace),
  };
  return { piece: { package: name, version, ...reach } };
}

type Place = NonNullable<CompiledBundle['manifest']['credential_places']>['places'][number];

function textOfPlace(place: Place): string {
  return `${place.in}:${'prefix' in place ? place.prefix : place.name}`;
}

function describeObstacle({ refusal, callsOut, hosts }: CompiledBundle): string | null {
  if (refusal !== undefined) return `${refusal} ${sandboxRemedy}`;
  if (!callsOut || hosts.length > 0) return null;
  return 'It leaves its hosts to the operator, who has allowed none. The setting QUARTERMASTER_BUNDLE_HOSTS allows hosts.';
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

import { withoutTrailingSlashes } from '@quartermaster/contract';
import { once } from '../../../platform/concurrency/once.ts';
import type { Logger } from '../../../platform/log/logger.ts';
import type { Permissions } from '../../../platform/permissions.ts';
import type { BundleFailure, Catalogue, CompiledBundle, Icon } from '../catalogue.ts';
import { etagOf } from '../listing/etag.ts';
import { createListing } from '../listing/list-catalogue.ts';
import type { OperatorHosts } from '../manifest/bundle-hosts.ts';
import { createResolveLanguage, languagesOf } from '../manifest/languages.ts';
import { createSchemaCompiler } from '../schema/compile-schema.ts';
import { wholeArchive } from '../schema/error-collector.ts';
import { type BundleFolder, findBundleFolders } from './bundle-folders.ts';
import { type CompileBundleOptions, compileBundle, refusalOf } from './compile-bundle.ts';
import type { HandlerCapabilities } from './handler-capabilities.ts';
import type { ManifestCache } from './manifest-cache.ts';
import { createManifestReader, type ManifestReader } from './manifest-reader.ts';
import { digestOf, type PackedBundle } from './packed-bundle.ts';
import { createChangeReader, type Reading } from './read-changes.ts';
import { logFailures, reportLoad } from './report-load.ts';

export interface LoadCatalogueOptions {
  /** The folders that contain bundle folders. When a bundle id occurs twice, the first folder wins. */
  readonly folders: readonly string[];
  readonly capabilities: HandlerCapabilities;
  /** The URL under which clients reach this address, such as `http://127.0.0.1:8081`. Icon URLs start with it. */
  readonly publicUrl: string;
  readonly logger: Logger;
  /** The hosts of bundles that leave them to the operator. */
  readonly operatorHosts?: OperatorHosts;
  /** Default: no cache, so every bundle is read. */
  readonly cache?: ManifestCache;
  /**
   * The bytes of YAML that the first load reads directly, before the service answers requests. Later loads read the rest in a
   * thread. Default: no limit.
   */
  readonly firstReadBytes?: number;
  /** Returns why the files of a folder must not be used, or null. Default: all may be used. */
  readonly refusalOf?: (folder: BundleFolder) => Promise<string | null>;
  /**
   * Installed bundles whose active version is missing on this node: null while it is fetched, otherwise why it failed. It gets the
   * names of the folders that were found. Default: none.
   */
  readonly missing?: (present: ReadonlySet<string>) => ReadonlyMap<string, string | null>;
  /** Default: a reader that caches the most recently used manifests. */
  readonly readManifest?: ManifestReader;
}

/**
 * Reads every bundle. Never fails: errors go to the log and to `failures`, and affect no other bundle. The same folders give the
 * same bytes.
 */
export async function loadCatalogue(options: LoadCatalogueOptions): Promise<Catalogue> {
  return (await createCatalogueLoader(options).load()).catalogue;
}

export interface LoadedCatalogue {
  readonly catalogue: Catalogue;
  /** Bundle folders, as {@link findBundleFolders} returns them. */
  readonly stamp: string;
  /** Whether every bundle was read; otherwise the next load continues. */
  readonly isComplete: boolean;
}

export interface CatalogueLoader {
  /** Reads a few of the bundles that changed since the last call. Unchanged bundles keep their objects. */
  load(): Promise<LoadedCatalogue>;
  /** Stops the thread that reads bundles. */
  close(): Promise<void>;
}

export function createCatalogueLoader(options: LoadCatalogueOptions): CatalogueLoader {
  const { cache, logger } = options;
  const reader = createChangeReader(options);
  const readManifest = options.readManifest ?? createManifestReader();
  let known = new Map<string, KnownBundle>();
  let previous: Catalogue | undefined;

  return {
    close: () => reader.close(),
    async load() {
      const started = performance.now();
      const isFirst = previous === undefined;
      const { folders, failures, stamp } = await findBundleFolders(options.folders);
      const changed = folders.filter(({ path, stamp: found }) => known.get(path)?.stamp !== found);
      const readings = isFirst ? await reader.readAtStart(changed) : await reader.readWhileServing(changed, known);
      const cached = [...readings.values()].filter(({ isCached }) => isCached).length;
      const capabilities = {
        handlers: options.capabilities.handlers,
        sandboxMissing: await options.capabilities.sandboxMissing,
      };
      const compiler = createSchemaCompiler();
      const { operatorHosts } = options;
      const entries = new Map<string, KnownBundle>();
      for (const folder of folders) {
        const before = known.get(folder.path);
        const reading = readings.get(folder.path);
        const compileOptions = { compiler, capabilities, operatorHosts, readManifest, stamp: folder.stamp };
        const entry = reading === undefined ? before : follow(folder, { before, reading, compileOptions });
        if (entry !== undefined) entries.set(folder.path, entry);
      }
      known = entries;
      const missing = [...(options.missing?.(new Set(folders.map(({ name }) => name))) ?? [])];
      const unfetched = missing.flatMap(([name, message]) => (message === null ? [] : [failureOf(name, message)]));
      const { misplaced, ...parts } = arrange([...entries.values()], [...failures, ...unfetched]);
      for (const failure of misplaced) {
        if (previous?.failures.some(({ message }) => message === failure.message)) continue;
        logFailures([failure], logger);
      }
      const unread = changed.filter(({ path }) => !readings.has(path));
      const awaited = [...unread.map(({ name }) => name), ...missing.map(([name]) => name)];
      const loading = awaited.filter((name) => !parts.bundles.has(name));
      const catalogue = createCatalogue({ ...parts, loading, publicUrl: options.publicUrl });
      const durationMs = Math.round(performance.now() - started);
      reportLoad(catalogue, { previous, durationMs, read: changed.length - unread.length - cached, logger });
      if (unread.length === 0) await cache?.retain(folders);
      previous = catalogue;
      return { catalogue, stamp, isComplete: unread.length === 0 };
    },
  };

  /** Combines a new reading of a folder with the active version. */
  function follow({ name, stamp }: BundleFolder, { before, reading, compileOptions }: ReadBefore): KnownBundle {
    const { bundle: source, failures } = reading;
    logFailures(failures, logger);
    const isClean = failures.length === 0;
    if (reading.isRefused) return { name, stamp, inForce: undefined, isClean, failures, isKept: false };
    if (before?.inForce !== undefined && (source === undefined || (!isClean && before.isClean))) {
      return { ...before, stamp, failures, isKept: true };
    }
    if (source === undefined) return { name, stamp, inForce: undefined, isClean, failures, isKept: false };
    const bundle = compileBundle(source, compileOptions);
    const { refusal } = bundle;
    if (refusal !== undefined) logger.error({ bundle_id: name, reason: refusal }, 'bundle handlers refused');
    return { name, stamp, inForce: { source, bundle }, isClean, failures, isKept: false };
  }
}

interface ReadBefore {
  readonly before: KnownBundle | undefined;
  readonly reading: Reading;
  readonly compileOptions: CompileBundleOptions;
}

/** The state of one folder after it was read. */
interface KnownBundle {
  readonly name: string;
  readonly stamp: string;
  /** The active version; undefined when no version ever loaded. */
  readonly inForce: { readonly source: PackedBundle; readonly bundle: CompiledBundle } | undefined;
  /** Whether the active version has no errors. Then a version with errors does not replace it. */
  readonly isClean: boolean;
  /** The failures of the files that are in the folder now. */
  readonly failures: readonly BundleFailure[];
  /** Whether the files in the folder were refused and an older version is in force. */
  readonly isKept: boolean;
}

/** Selects the bundles of the catalogue. Of several with the same id the first one counts. */
function arrange(
  known: readonly KnownBundle[],
  unreadable: readonly BundleFailure[],
): Omit<CatalogueParts, 'publicUrl' | 'loading'> & { readonly misplaced: readonly BundleFailure[] } {
  const sources = new Map<string, PackedBundle>();
  const bundles = new Map<string, CompiledBundle>();
  const misplaced = [...unreadable];
  const inOrder = known.toSorted((a, b) => compareText(a.name, b.name));
  for (const { name, inForce } of inOrder) {
    if (inForce === undefined || sources.has(name)) continue;
    sources.set(name, inForce.source);
    bundles.set(name, inForce.bundle);
  }
  for (const { name, inForce } of known) {
    const first = sources.get(name);
    if (inForce === undefined || first === undefined || first === inForce.source) continue;
    const message = `The bundle ${JSON.stringify(name)} is there already, from ${first.folder}; this one is left out.`;
    misplaced.push({ file: `${name}/bundle.yaml`, line: null, field: 'id', message });
  }
  const reused = inOrder.filter(({ isKept }) => isKept).map(({ name }) => name);
  const failures = [...known.flatMap((one) => one.failures), ...misplaced, ...[...bundles.values()].flatMap(refusalOf)];
  return { sources: [...sources.values()], bundles, failures, kept: reused, misplaced };
}

/** The failure of an installed bundle whose archive this node cannot use. */
function failureOf(name: string, message: string): BundleFailure {
  return { file: `${name}/bundle.yaml`, line: null, field: wholeArchive, message };
}

/** Compares by code unit, which gives the same order on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

interface CatalogueParts {
  /** Both are sorted by id. */
  readonly sources: readonly PackedBundle[];
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly failures: readonly BundleFailure[];
  readonly kept: readonly string[];
  readonly loading: readonly string[];
  readonly publicUrl: string;
}

function createCatalogue({ sources, bundles, publicUrl, ...facts }: CatalogueParts): Catalogue {
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
  const digest = once(() => digestOf(sources));
  const base = withoutTrailingSlashes(publicUrl);
  const resolveLanguage = createResolveLanguage(languages);
  const iconUrl = (bundleId: string) => (icons.has(bundleId) ? `${base}/v1/bundles/${bundleId}/icon` : null);
  const viewOf = (seen: CatalogueParts['bundles'], loading: readonly string[]): Catalogue => {
    const view: Catalogue = {
      ...facts,
      loading,
      digest,
      bundles: seen,
      findBundle: (bundleId) => seen.get(bundleId),
      findPlugin: (bundleId, pluginId) => seen.get(bundleId)?.plugins.get(pluginId),
      findIcon: (bundleId) => (seen.has(bundleId) ? icons.get(bundleId) : undefined),
      ...createListing({ bundles: seen, publicUrl: base, resolveLanguage, iconUrl }),
      visibleTo: (permissions) =>
        permissions.tools === null
          ? view
          : viewOf(
              visibleBundles(seen, permissions),
              loading.filter((id) => permissions.seesBundle(id)),
            ),
    };
    return view;
  };
  return viewOf(bundles, facts.loading);
}

function visibleBundles(bundles: CatalogueParts['bundles'], permissions: Permissions): CatalogueParts['bundles'] {
  const seen = [...bundles].filter(([id]) => permissions.seesBundle(id));
  return new Map(
    seen.map(([id, bundle]) => {
      const plugins = [...bundle.plugins].filter(([pluginId]) => permissions.seesPlugin(id, pluginId));
      return [id, { ...bundle, plugins: new Map(plugins) }] as const;
    }),
  );
}

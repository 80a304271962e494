import type { Isolation } from '@quartermaster/contract';
import type { Logger } from '../kernel/logger.ts';
import { severalAtOnce } from '../kernel/several-at-once.ts';
import { filesAtStart, filesWhileServing } from './bundle-files.ts';
import { atOnce, type BundleFolder, findBundleFolders } from './bundle-folders.ts';
import type { OperatorHosts } from './bundle-hosts.ts';
import type { BundleFailure, Catalogue, CompiledBundle, Icon } from './catalogue.ts';
import { compileBundle, refusalOf } from './compile-bundle.ts';
import { createSchemaCompiler, type SchemaCompiler } from './compile-schema.ts';
import { wholeFile } from './findings.ts';
import { type KnownManifests, nothingKnown } from './known-manifests.ts';
import { createResolveLanguage, fallbackLanguage, languagesOf } from './languages.ts';
import { createListing } from './list-catalogue.ts';
import { reasonOf } from './plain-file.ts';
import { prepareBytes } from './prepare.ts';
import { type BundleReading, type BundleSource, readBundle } from './read-bundle.ts';
import type { BundleReader } from './read-manifest-file.ts';
import { logFailure, reportLoad } from './report-load.ts';

export interface LoadCatalogueOptions {
  /** Folders of bundles, one folder a bundle in each. A bundle id that comes twice: the first folder wins. */
  readonly folders: readonly string[];
  readonly capabilities: HandlerCapabilities;
  /** Where clients reach this address, such as `http://127.0.0.1:8081`; icon addresses start with it. */
  readonly publicUrl: string;
  readonly logger: Logger;
  /** For the bundles that leave their hosts to the operator. */
  readonly operatorHosts?: OperatorHosts;
  /** Default: every file is checked anew. */
  readonly known?: KnownManifests;
}

export interface HandlerCapabilities {
  /** What isolates the handlers of a bundle: the same for all, or by the folder of the bundle. */
  readonly handlers: HandlerIsolation | ((bundleFolder: string) => HandlerIsolation);
  /**
   * Why this machine, as probed at start, cannot give `sandbox`: handlers that need it are refused. Null: it can.
   * A promise: bundles are read while the probes still run.
   */
  readonly sandboxMissing?: string | null | Promise<string | null>;
}

/** The same, once the probes have ended. */
export type KnownCapabilities = Omit<HandlerCapabilities, 'sandboxMissing'> & {
  readonly sandboxMissing: string | null | undefined;
};

export type HandlerIsolation = Exclude<Isolation, 'none'>;

/**
 * Reads every bundle. Never fails: what is wrong is a failure in the log and in `failures`, and hides nothing else.
 * The same folders give the same bytes.
 */
export async function loadCatalogue(options: LoadCatalogueOptions): Promise<Catalogue> {
  return (await createCatalogueLoader(options).load()).catalogue;
}

export interface LoadedCatalogue {
  readonly catalogue: Catalogue;
  /** Of what was read, as {@link findBundleFolders} gives it. */
  readonly stamp: string;
}

export interface CatalogueLoader {
  /** Reads what has changed since it was called last; what has not is the same objects. */
  load(): Promise<LoadedCatalogue>;
}

export function createCatalogueLoader(options: LoadCatalogueOptions): CatalogueLoader {
  let known = new Map<string, KnownBundle>();
  let previous: Catalogue | undefined;

  return {
    async load() {
      const started = performance.now();
      const files = previous === undefined ? filesAtStart : filesWhileServing;
      const reader = { files, known: options.known ?? nothingKnown };
      const { folders, failures, stamp } = await findBundleFolders(options.folders, files);
      const compiler = createSchemaCompiler();
      const readings = new Map<string, BundleReading>();
      const changed = folders.filter(({ path, stamp: found }) => known.get(path)?.stamp !== found);
      await severalAtOnce(changed, atOnce, async ({ name, path }) => {
        readings.set(path, await readBundleSafely(path, name, reader));
      });
      const sandboxMissing = await options.capabilities.sandboxMissing;
      const capabilities = { handlers: options.capabilities.handlers, sandboxMissing };
      const entries = new Map<string, KnownBundle>();
      for (const folder of folders) {
        const before = known.get(folder.path);
        const reading = readings.get(folder.path);
        const entry = reading === undefined ? before : follow(folder, { before, reading, compiler, capabilities });
        if (entry !== undefined) entries.set(folder.path, entry);
      }
      known = entries;
      const { misplaced, ...parts } = arrange([...entries.values()], failures);
      for (const failure of misplaced) {
        if (previous?.failures.some(({ message }) => message === failure.message)) continue;
        logFailure(failure, options.logger);
      }
      const catalogue = createCatalogue({ ...parts, publicUrl: options.publicUrl });
      // The answers almost everyone asks for are ready before the first request.
      catalogue.bundleList(fallbackLanguage);
      catalogue.pluginList(undefined, fallbackLanguage);
      reportLoad(catalogue, {
        previous,
        milliseconds: Math.round(performance.now() - started),
        logger: options.logger,
      });
      previous = catalogue;
      return { catalogue, stamp };
    },
  };

  /** What is known of a folder after it was read anew. */
  function follow({ name, stamp }: BundleFolder, { before, reading, compiler, capabilities }: ReadBefore): KnownBundle {
    const { bundle: source, failures } = reading;
    for (const failure of failures) logFailure(failure, options.logger);
    const isClean = failures.length === 0;
    if (before?.inForce !== undefined && (source === undefined || (!isClean && before.isClean))) {
      return { ...before, stamp, failures, isKept: true };
    }
    if (source === undefined) return { name, stamp, inForce: undefined, isClean, failures, isKept: false };
    const bundle = compileBundle(source, {
      ...{ compiler, capabilities, stamp },
      operatorHosts: options.operatorHosts,
    });
    const { refusal } = bundle;
    if (refusal !== undefined)
      options.logger.error({ bundle_id: name }, `handlers of the bundle ${name} are refused: ${refusal}`);
    return { name, stamp, inForce: { source, bundle }, isClean, failures, isKept: false };
  }
}

interface ReadBefore {
  readonly before: KnownBundle | undefined;
  readonly reading: BundleReading;
  readonly compiler: SchemaCompiler;
  readonly capabilities: KnownCapabilities;
}

/** What is known of one folder since it was read. */
interface KnownBundle {
  readonly name: string;
  readonly stamp: string;
  /** Undefined when it never loaded. */
  readonly inForce: { readonly source: BundleSource; readonly bundle: CompiledBundle } | undefined;
  /** What is in force had no mistake; then a version with mistakes does not replace it. */
  readonly isClean: boolean;
  /** Of what is in the folder now. */
  readonly failures: readonly BundleFailure[];
  /** What is in the folder now was refused, and an older version is in force. */
  readonly isKept: boolean;
}

/** Of bundles with the same id the first one counts. */
function arrange(
  known: readonly KnownBundle[],
  unreadable: readonly BundleFailure[],
): Omit<CatalogueParts, 'publicUrl'> & { readonly misplaced: readonly BundleFailure[] } {
  const sources = new Map<string, BundleSource>();
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
  const kept = inOrder.filter(({ isKept }) => isKept).map(({ name }) => name);
  const failures = [...known.flatMap((one) => one.failures), ...misplaced, ...[...bundles.values()].flatMap(refusalOf)];
  return { sources: [...sources.values()], bundles, failures, kept, misplaced };
}

/** What the checks did not foresee (a folder that vanishes, a link to nothing) costs this bundle only. */
async function readBundleSafely(folder: string, name: string, reader: BundleReader): Promise<BundleReading> {
  try {
    return await readBundle(folder, reader);
  } catch (error) {
    const message = `The bundle cannot be read: ${reasonOf(error)}.`;
    return { bundle: undefined, failures: [{ file: `${name}/bundle.yaml`, line: null, field: wholeFile, message }] };
  }
}

interface CatalogueParts {
  /** Both sorted by id. */
  readonly sources: readonly BundleSource[];
  readonly failures: readonly BundleFailure[];
  readonly kept: readonly string[];
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly publicUrl: string;
}

function createCatalogue({ sources, bundles, failures, kept, publicUrl }: CatalogueParts): Catalogue {
  const icons = new Map<string, Icon>();
  for (const { manifest, icon } of sources) {
    if (icon !== null) icons.set(manifest.id, { ...prepareBytes(icon.content), mediaType: icon.mediaType });
  }
  const languages = sources.flatMap(({ manifest, plugins }) =>
    [manifest, ...plugins.map((plugin) => plugin.manifest)].flatMap((item) => languagesOf(item.name, item.description)),
  );
  const base = publicUrl.replace(/\/+$/, '');
  return {
    bundles,
    failures,
    kept,
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

/** By code unit, the same on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { definitionFormats, type Isolation } from '@quartermaster/contract';
import type { Logger } from '../kernel/logger.ts';
import type { BundleFailure, Catalogue, CompiledBundle, CompiledPlugin, Icon } from './catalogue.ts';
import { secretNames } from './check-credentials.ts';
import { createSchemaCompiler, type SchemaCompiler } from './compile-schema.ts';
import { wholeFile } from './findings.ts';
import { createResolveLanguage, fallbackLanguage, languagesOf } from './languages.ts';
import { createListing } from './list-catalogue.ts';
import { errorCode, reasonOf } from './plain-file.ts';
import { prepareBytes } from './prepare.ts';
import { type BundleSource, readBundle } from './read-bundle.ts';
import type { PluginSource } from './read-plugin.ts';

export interface LoadCatalogueOptions {
  /** Folders of bundles, one folder a bundle in each. A bundle id that comes twice: the first folder wins. */
  readonly folders: readonly string[];
  readonly capabilities: HandlerCapabilities;
  /** Where clients reach this address, such as `http://127.0.0.1:8081`; icon addresses start with it. */
  readonly publicUrl: string;
  readonly logger: Logger;
}

export interface HandlerCapabilities {
  /** What isolates the handlers of a bundle: the same for all, or by the folder of the bundle. */
  readonly handlers: HandlerIsolation | ((bundleFolder: string) => HandlerIsolation);
  /** Why this machine, as probed at start, cannot give `sandbox`: handlers that need it are refused. Null: it can. */
  readonly sandboxMissing?: string | null;
}

export type HandlerIsolation = Exclude<Isolation, 'none'>;

/**
 * Reads every bundle. Never fails: what is wrong is a failure in the log and in `failures`, and hides nothing else.
 * The same folders give the same bytes.
 */
export async function loadCatalogue(options: LoadCatalogueOptions): Promise<Catalogue> {
  const started = performance.now();
  const { sources, failures } = await readFolders(options.folders);
  for (const { file, line, field, message } of failures) {
    options.logger.error({ file, line, field }, `bundle not loaded: ${file}:${line ?? '-'} ${field}: ${message}`);
  }
  const compiler = createSchemaCompiler();
  const bundles = new Map(sources.map((source) => [source.manifest.id, compileBundle(source, { compiler, options })]));
  const refused = [...bundles.values()].flatMap((bundle) => refusalOf(bundle, options.logger));
  const known = [...failures, ...refused];
  const catalogue = createCatalogue({ sources, bundles, failures: known, publicUrl: options.publicUrl });
  // The answers almost everyone asks for are ready before the first request.
  catalogue.bundleList(fallbackLanguage);
  catalogue.pluginList(undefined, fallbackLanguage);
  const facts = {
    bundles: bundles.size,
    plugins: sources.reduce((sum, { plugins }) => sum + plugins.length, 0),
    failures: failures.length,
    milliseconds: Math.round(performance.now() - started),
  };
  options.logger.info(facts, `catalogue loaded: ${facts.bundles} bundles, ${facts.plugins} plugins`);
  reportUnsupported(catalogue, options.logger);
  return catalogue;
}

/** A bundle whose handlers are not run is listed all the same: what it declares is data. */
function refusalOf({ id, refusal }: CompiledBundle, logger: Logger): BundleFailure[] {
  if (refusal === undefined) return [];
  logger.error({ bundle_id: id }, `handlers of the bundle ${id} are refused: ${refusal}`);
  return [{ file: `${id}/bundle.yaml`, line: null, field: 'handler', message: refusal }];
}

/** Says which plugins a provider's format cannot carry as it should: the operator may want to know before a model does. */
function reportUnsupported(catalogue: Catalogue, logger: Logger): void {
  for (const format of definitionFormats) {
    const plugins = [...catalogue.bundles.values()].flatMap((bundle) => [...bundle.plugins.values()]);
    const unsupported = plugins.filter((plugin) =>
      catalogue.definePlugin(plugin, format, fallbackLanguage).losses.some(({ kind }) => kind === 'unsupported'),
    );
    if (unsupported.length === 0) continue;
    const named = unsupported.slice(0, 10).map(({ bundle, id }) => `${bundle.id}/${id}`);
    logger.info({ format, plugins: unsupported.length }, `not wholly expressible as ${format}: ${named.join(', ')}`);
  }
}

interface Reading {
  /** Sorted by id. */
  readonly sources: readonly BundleSource[];
  readonly failures: readonly BundleFailure[];
}

async function readFolders(folders: readonly string[]): Promise<Reading> {
  const sources = new Map<string, BundleSource>();
  const failures: BundleFailure[] = [];
  for (const folder of folders) {
    for (const name of await listBundleFolders(folder, failures)) {
      const reading = await readBundleSafely(join(folder, name), name);
      failures.push(...reading.failures);
      const { bundle } = reading;
      if (bundle === undefined) continue;
      const first = sources.get(name);
      if (first === undefined) sources.set(name, bundle);
      else {
        const message = `The bundle ${JSON.stringify(name)} is there already, from ${first.folder}; this one is left out.`;
        failures.push({ file: `${name}/bundle.yaml`, line: null, field: 'id', message });
      }
    }
  }
  return { sources: [...sources.values()].sort((a, b) => compareText(a.manifest.id, b.manifest.id)), failures };
}

async function listBundleFolders(folder: string, failures: BundleFailure[]): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const candidates = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
    return candidates
      .map((entry) => entry.name)
      .filter((name) => !name.startsWith('.') && name !== 'node_modules')
      .sort();
  } catch (error) {
    const message = `The folder of bundles ${folder} cannot be read (${errorCode(error)}).`;
    failures.push({ file: '.', line: null, field: wholeFile, message });
    return [];
  }
}

/** What the checks did not foresee (a folder that vanishes, a link to nothing) costs this bundle only. */
async function readBundleSafely(folder: string, name: string) {
  try {
    return await readBundle(folder);
  } catch (error) {
    const message = `The bundle cannot be read: ${reasonOf(error)}.`;
    return { bundle: undefined, failures: [{ file: `${name}/bundle.yaml`, line: null, field: wholeFile, message }] };
  }
}

function compileBundle(
  { manifest, folder, plugins: sources }: BundleSource,
  { compiler, options }: { compiler: SchemaCompiler; options: LoadCatalogueOptions },
): CompiledBundle {
  const hasCode = sources.some(({ handlerPath }) => handlerPath !== null);
  const { handlers, sandboxMissing = null } = options.capabilities;
  const needed = typeof handlers === 'function' ? handlers(folder) : handlers;
  const isRefused = hasCode && needed === 'sandbox' && sandboxMissing !== null;
  const plugins = new Map<string, CompiledPlugin>();
  const bundle: CompiledBundle = {
    id: manifest.id,
    folder,
    manifest,
    isolation: hasCode ? needed : 'none',
    ...(isRefused ? { refusal: `Its handlers need a sandbox, and ${sandboxMissing}.` } : {}),
    checkCredentials: compiler.compileCredentials(manifest.credentials_schema ?? { type: 'object' }),
    secretNames: secretNames(manifest),
    plugins,
  };
  for (const source of sources) plugins.set(source.manifest.id, compilePlugin(source, bundle, compiler));
  return bundle;
}

function compilePlugin(source: PluginSource, bundle: CompiledBundle, compiler: SchemaCompiler): CompiledPlugin {
  const { manifest, handlerPath } = source;
  return {
    bundle,
    id: manifest.id,
    manifest,
    readInput: compiler.compileInput(manifest.input_schema),
    checkOutput: compiler.compileOutput(manifest.output_schema),
    handlerPath,
  };
}

interface CatalogueParts extends Reading {
  readonly bundles: ReadonlyMap<string, CompiledBundle>;
  readonly publicUrl: string;
}

function createCatalogue({ sources, bundles, failures, publicUrl }: CatalogueParts): Catalogue {
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

import { realpath } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type EncryptionSettings, openEncryption } from '../../access/credential-profiles/encryption-key.ts';
import { onceRetried } from '../../platform/concurrency/once.ts';
import { createFolderPath } from '../../platform/disk/sync-to-disk.ts';
import { memoize } from '../../platform/memoize.ts';
import { version } from '../../platform/version.ts';
import { createCredentialProfileRepository } from '../../storage/repositories/credential-profile-repository.ts';
import { createAnswerKeyRepository, createStoreRepository } from '../../storage/repositories/store-repository.ts';
import type { ArtifactStore } from '../../tools/artifacts/artifact-store.ts';
import type { Catalogue, CompiledPlugin } from '../../tools/catalogue/catalogue.ts';
import { describesFileContent } from '../../tools/catalogue/file-references.ts';
import type { BundleFolder } from '../../tools/catalogue/load/bundle-folders.ts';
import type { HandlerIsolation } from '../../tools/catalogue/load/handler-capabilities.ts';
import { createInstalledManifests, createManifestCache } from '../../tools/catalogue/load/manifest-cache.ts';
import { registerCatalogueMetrics } from '../../tools/catalogue/load/metrics.ts';
import { openCatalogue } from '../../tools/catalogue/load/open-catalogue.ts';
import { ownBundles, ownManifests } from '../../tools/catalogue/load/own-bundles.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { openAnswerHashes } from '../../tools/execution/answer-hashes.ts';
import { createExecutor } from '../../tools/execution/create-executor.ts';
import { createFileInputs, type FileSources } from '../../tools/execution/file-inputs/file-inputs.ts';
import { openSandbox } from '../../tools/execution/sandbox/open-sandbox.ts';
import type { Sandbox } from '../../tools/execution/sandbox/sandbox.ts';
import type { Installation } from '../../tools/installation/installation.ts';
import { describeChange } from '../../tools/packaging/changed-files.ts';
import { versionsName } from '../../tools/packaging/installed-bundles.ts';
import type { RunStore } from '../../tools/runs/run-store.ts';
import type { Config } from '../settings/config.ts';
import type { ServiceContext } from './context.ts';
import { checkBundleFolders } from './wire-blobs.ts';

type SandboxContext = Pick<ServiceContext, 'logger' | 'registry' | 'admission' | 'resources'>;

const gibibyteMb = 1024;

/**
 * Opens the processes for all plugins, also for those that are read before their installation. They share one budget of memory: 1 GiB
 * for each processor, and at most half of what the machine or the container has.
 */
export function openPluginSandbox(context: SandboxContext): () => Promise<Sandbox> {
  const { logger, registry: metrics, admission, resources } = context;
  return onceRetried(async () => {
    const processors = Math.max(2, Math.min(8, availableParallelism()));
    const memoryMb = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / 2 ** 20;
    const sandbox = await openSandbox({
      maxChildrenPerBundle: processors,
      memoryBudgetMb: Math.max(gibibyteMb, Math.min(processors * gibibyteMb, memoryMb / 2)),
      queueLength: 512,
      idleMs: 60_000,
      recycleAfterRuns: 100_000,
      cgroups: 'auto',
      logger,
      metrics,
      admission,
    });
    resources.defer(() => sandbox.close());
    return sandbox;
  });
}

/** The start waits this long for archives that the data folder lacks. Requests for the others are answered with 503. */
const longestFollowMs = 5_000;

interface ExecutionOptions {
  readonly runStore: RunStore;
  /** null where nothing of an output can be stored. */
  readonly artifacts: ArtifactStore | null;
  /** Reads the stored files that inputs name; null if this process cannot read stored files. */
  readonly sources: FileSources | null;
  /** The base URL of bundle icons. */
  readonly publicUrl: string;
  /** null if this process cannot read stored files. It then serves the installed bundles that its data folder has. */
  readonly installation: Installation | null;
  /** Called when bundles were added, changed or removed. */
  readonly onChange: (now: Catalogue, before: Catalogue) => void;
}

/** Opens the components that run plugins. The catalogue is read while the sandbox is probed. */
export async function openExecution(
  context: ServiceContext,
  { runStore, artifacts, sources, publicUrl, installation, onChange }: ExecutionOptions,
) {
  const { config, logger, resources, registry: metrics, space, audit, rates } = context;
  const { egressOverrides: overrides, egressAllow: allow, contact } = config;
  const broker = createBroker({ overrides, allow, version, contact, logger, metrics });
  resources.defer(() => broker.close());
  await createFolderPath(config.installedBundles, 0o755);
  // Before the sandbox opens, because a refused start ends while it opens.
  await checkBundleFolders(config, logger);
  const opening = context.sandbox();
  const followed = installation
    ?.follow()
    .catch((err: unknown) => logger.error({ err }, 'installed bundles not followed'));
  await Promise.race([followed, wait(longestFollowMs, undefined, { ref: false })]);
  const openingCatalogue = openCatalogue({
    folders: [ownBundles, config.installedBundles, ...config.bundleFolders],
    capabilities: { handlers: createIsolationPolicy(config.isolation), sandboxMissing: opening.then(missingIn) },
    operatorHosts: config.bundleHosts,
    refusalOf: createRefusal(config.installedBundles),
    ...(installation === null ? {} : { missing: installation.missing }),
    publicUrl,
    logger,
    cache: createManifestCache({
      folder: join(config.dataFolder, 'cache', 'bundles'),
      installed: createInstalledManifests({ folder: ownManifests, version }),
      version,
    }),
    onChange,
  });
  const [sandbox, live] = await Promise.all([opening, openingCatalogue]);
  context.changeHooks.readFolders = live.refresh;
  resources.defer(() => live.close());
  observeCatalogue(live, context);
  const limits = {
    timeoutMs: config.pluginSeconds * 1000,
    maxRunsOfKey: config.maxRunsOfKey,
  };
  const deps = { catalogue: live.current, broker, sandbox, space, audit, rates };
  /** Other inputs are not searched for references, because a search reads every value of the input. */
  const schemaOf = (bundleId: string, pluginId: string) => {
    const plugin = live.current().findPlugin(bundleId, pluginId);
    return plugin !== undefined && takesFiles(plugin) ? () => plugin.manifest.input_schema : undefined;
  };
  const executor = createExecutor({
    ...deps,
    fileInputs: createFileInputs({ schemaOf, sources, logger, metrics, admission: context.admission }),
    newId: context.newId,
    admission: context.admission,
    logger,
    metrics,
    limits,
    observer: runStore,
    ...(artifacts === null ? {} : { artifacts }),
    version,
  });
  return { catalogue: live.current, sandbox, executor };
}

const takesFiles = memoize(({ manifest }: CompiledPlugin) => describesFileContent(manifest.input_schema));

/** Registers the metrics, and logs ids of BUNDLE_HOSTS that no bundle has: they are probably misspelt. */
function observeCatalogue(
  { current }: { readonly current: () => Catalogue },
  { config, logger, registry }: ServiceContext,
): void {
  registerCatalogueMetrics(registry, current);
  const setting = 'QUARTERMASTER_BUNDLE_HOSTS';
  for (const bundleId of config.bundleHosts.keys()) {
    if (current().findBundle(bundleId) === undefined)
      logger.warn({ setting, bundle_id: bundleId }, 'hosts of an unknown bundle');
  }
}

/** Refuses bundles that differ from their installed archive. Bundles in other folders may be edited. */
function createRefusal(installedBundles: string): (folder: BundleFolder) => Promise<string | null> {
  return async ({ path }) => {
    if (dirname(path) !== installedBundles) return null;
    const target = await realpath(path).catch(() => path);
    return basename(dirname(dirname(target))) === versionsName ? await describeChange(target) : null;
  };
}

function missingIn({ capabilities }: Sandbox): string | null {
  return capabilities.sandbox.available ? null : capabilities.sandbox.missing;
}

/**
 * Selects the isolation of handlers: bundles of the product are trusted; others run in a sandbox unless the operator decides
 * otherwise.
 */
function createIsolationPolicy(wanted: Config['isolation']): (bundleFolder: string) => HandlerIsolation {
  if (wanted !== 'auto') return () => wanted;
  return (bundleFolder) => (bundleFolder.startsWith(ownBundles + sep) ? 'process' : 'sandbox');
}

export type Secrets = Awaited<ReturnType<typeof openSecrets>>;

/** Opens the encryption of stored credentials, and the keyed hashes of stored answers and signed URLs. */
export async function openSecrets(context: ServiceContext) {
  const { database, logger } = context;
  const encrypter = await openEncryption(encryptionSettingsOf(context), {
    profiles: createCredentialProfileRepository(database),
    store: createStoreRepository(database),
    logger,
  });
  const hashes = await openAnswerHashes(encrypter?.hashes ?? null, createAnswerKeyRepository(database));
  return { encrypter, hashes };
}

export function encryptionSettingsOf({ config, database }: ServiceContext): EncryptionSettings {
  return { ...config, isDatabaseInFolder: database.dialect === 'sqlite' };
}

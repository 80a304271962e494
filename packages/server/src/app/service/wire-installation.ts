import { ofService } from '../../access/accounts/people-routes.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { version } from '../../platform/version.ts';
import { createArchiveRepository, createPublisherRepository } from '../../storage/repositories/archive-repository.ts';
import { createBlobRepository } from '../../storage/repositories/blob-repository.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import { createDamageReport } from '../../stores/files/maintenance/report-damage.ts';
import { ownBundles } from '../../tools/catalogue/load/own-bundles.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { createArchiveStore } from '../../tools/installation/archive-store.ts';
import { fetchLogo } from '../../tools/installation/fetch-logo.ts';
import { createInstallation, type Installation } from '../../tools/installation/installation.ts';
import { loadBundle } from '../../tools/installation/load-bundle.ts';
import { createReadDefinitions } from '../../tools/installation/read-definitions.ts';
import { createReadPiece } from '../../tools/installation/read-piece.ts';
import { createRegistry } from '../../tools/installation/registry.ts';
import { installationRoutes } from '../../tools/installation/routes.ts';
import { createInstalledBundles } from '../../tools/packaging/installed-bundles.ts';
import { adoptPublishers, type TrustedPublishers } from '../../tools/packaging/trusted-publishers.ts';
import { noChangeHooks, type ServiceContext } from './context.ts';
import { openBlobStore } from './open-blobs.ts';
import type { StoredFiles } from './wire-blobs.ts';
import { openPluginSandbox } from './wire-execution.ts';

type InstallationContext = Pick<
  ServiceContext,
  | 'config'
  | 'database'
  | 'audit'
  | 'clock'
  | 'newId'
  | 'logger'
  | 'registry'
  | 'admission'
  | 'resources'
  | 'sandbox'
  | 'changeHooks'
>;
type Stored = Pick<StoredFiles, 'blobs' | 'reportDamage'>;

export function openInstallation(context: InstallationContext, stored: Stored): Installation {
  const { config, database, logger, admission, resources } = context;
  const { packageRegistry, egressAllow: allow } = config;
  // The operator has named the registry, so it may have a private address.
  const origin = packageRegistry === null ? null : new URL(packageRegistry.reveal()).origin;
  const overrides = new Map([...(origin === null ? [] : [[origin, origin] as const]), ...config.egressOverrides]);
  const broker = createBroker({ overrides, allow, version, logger });
  resources.defer(() => broker.close());
  const archives = createArchiveRepository(database);
  return createInstallation({
    ...context,
    store: createArchiveStore({
      ...context,
      ...stored,
      archives,
      files: createFileRepository(database, { hasIntents: config.blobs !== null }),
    }),
    folders: createInstalledBundles(config.installedBundles),
    registry: createRegistry(broker, packageRegistry),
    readPiece: createReadPiece({ sandbox: context.sandbox }),
    fetchLogo: (url, signal) => fetchLogo(broker, url, signal),
    readDefinitions: createReadDefinitions(broker),
    publishers: openPublishers(context),
    noticeMs: database.dialect === 'postgres' ? noticeMs : 0,
    load: (folder) => loadBundle(folder, [ownBundles, ...config.bundleFolders]),
    onChange: () => context.changeHooks.readFolders(),
    queue: admission.queue('bundle_plans'),
    metrics: context.registry,
  });
}

export function openPublishers({ config, database }: Pick<ServiceContext, 'config' | 'database'>): TrustedPublishers {
  return adoptPublishers(config.installedBundles, createPublisherRepository(database));
}

/** Each process looks for changes once a second, with the changes of keys. */
const noticeMs = 1_000;
const hour = 3_600_000;

/** Opens the installation, and makes the bundles of this node equal to the rows until the service closes. */
export function followBundles(context: ServiceContext, stored: Stored): Installation {
  const { changeHooks, logger, resources } = context;
  const installation = openInstallation(context, stored);
  changeHooks.followRows = () => installation.follow();
  const tasks = startPeriodicTasks([{ name: 'restore bundles', pause: hour, run: installation.reconcile }], logger);
  resources.defer(async () => {
    await tasks.close();
    await installation.close();
  });
  return installation;
}

type CommandContext = Pick<InstallationContext, 'config' | 'database' | 'audit' | 'clock' | 'newId' | 'admission'>;

/** Performs work of a command, with or without a running service. */
export async function withInstallation<T>(
  command: CommandContext & Pick<InstallationContext, 'logger'>,
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  await using resources = new AsyncDisposableStack();
  const { blobs } = await openBlobStore(command);
  resources.defer(blobs.close);
  const { database, clock, logger, admission } = command;
  const reportDamage = createDamageReport({ damages: createBlobRepository(database), blobs, clock, logger });
  // The command prints what it throws. Lines of JSON about processes and requests would be between its own lines.
  const own = { logger: createLogger('silent'), registry: createMetrics(), admission, resources };
  const context = { ...command, ...own, sandbox: openPluginSandbox(own), changeHooks: noChangeHooks() };
  const installation = openInstallation(context, { blobs, reportDamage });
  resources.defer(() => installation.close());
  return await work(installation);
}

/** Serves the installation of packages, and follows its rows. */
export function serveInstallation(
  context: ServiceContext,
  app: App,
  { guard, ...stored }: Stored & { readonly guard: ManagerGuard },
): Installation {
  const installation = followBundles(context, stored);
  installationRoutes(app, { installation, onRequest: ofService(guard) });
  return installation;
}

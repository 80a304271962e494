import { ofService } from '../../access/accounts/people-routes.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { version } from '../../platform/version.ts';
import { createArchiveRepository } from '../../storage/repositories/archive-repository.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
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
import { createTrustedPublishers } from '../../tools/packaging/trusted-publishers.ts';
import type { ServiceContext } from './context.ts';
import type { StoredFiles } from './wire-blobs.ts';

type InstallationContext = Pick<
  ServiceContext,
  'config' | 'database' | 'audit' | 'clock' | 'newId' | 'logger' | 'registry' | 'admission' | 'resources' | 'sandbox'
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
    publishers: createTrustedPublishers(config.installedBundles),
    load: (folder) => loadBundle(folder, [ownBundles, ...config.bundleFolders]),
    queue: admission.queue('bundle_plans'),
    metrics: context.registry,
  });
}

const hour = 3_600_000;

/** Serves the installation of packages, and restores missing folders of bundles from their archives. */
export function serveInstallation(
  context: ServiceContext,
  app: App,
  { guard, ...stored }: Stored & { readonly guard: ManagerGuard },
): void {
  const installation = openInstallation(context, stored);
  const tasks = startPeriodicTasks(
    [{ name: 'restore bundles', pause: hour, run: installation.reconcile }],
    context.logger,
  );
  context.resources.defer(() => tasks.close());
  installationRoutes(app, { installation, onRequest: ofService(guard) });
}

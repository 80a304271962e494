import { access as checkAccess, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createByteRate } from '../../platform/byte-rate.ts';
import { systemClock } from '../../platform/clock.ts';
import type { PeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import { type DiskSpace, unlimitedSpace } from '../../platform/disk/disk-space.ts';
import { createFolderPath } from '../../platform/disk/sync-to-disk.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { type Ballast, ballastBytes, openBallast } from '../../storage/disk/ballast.ts';
import { diskBytes, freeBytes, watchDiskSpace } from '../../storage/disk/disk-space.ts';
import { diskNearlyFull } from '../../storage/disk/problems.ts';
import { createArtifactRepository } from '../../storage/repositories/artifact-repository.ts';
import { createBlobRepository } from '../../storage/repositories/blob-repository.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { createDownloadOrder } from '../../stores/files/download-order.ts';
import { finishDeletes, reconcileFiles } from '../../stores/files/maintenance/reconcile.ts';
import { createDamageReport } from '../../stores/files/maintenance/report-damage.ts';
import { verifyBlobs } from '../../stores/files/maintenance/verify-blobs.ts';
import type { FileRoutesDeps } from '../../stores/files/routes.ts';
import { isDataFolder } from '../../stores/files/store-identity.ts';
import { type BlobHealth, createBlobHealth, createUploadSpace } from '../../stores/files/upload-space.ts';
import { createArtifactSweep } from '../../tools/artifacts/sweep-artifacts.ts';
import { assertNotMoved } from '../backup/moved-store.ts';
import type { Config } from '../settings/config.ts';
import type { ServiceContext } from './context.ts';
import { openBlobStore } from './open-blobs.ts';
import { verification } from './wire-node.ts';

/** Stored content with the rows that refer to it. */
export interface StoredFiles extends Pick<FileRoutesDeps, 'blobs' | 'downloadOrder' | 'files' | 'reportDamage'> {
  /** The detected problems of the stored content. */
  readonly conditions: BlobHealth['conditions'];
}

type ContentContext = Pick<
  ServiceContext,
  | 'config'
  | 'clock'
  | 'logger'
  | 'resources'
  | 'registry'
  | 'database'
  | 'ballast'
  | 'space'
  | 'admission'
  | 'startTasks'
>;

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000];

/** Opens the stored content and starts the tasks that reconcile it with its rows. */
export async function openStoredFiles(context: ContentContext): Promise<StoredFiles> {
  const { clock, logger, registry, database } = context;
  const { blobs, files, damages, reportDamage, uploadSpace, sweepUnfinished } = await openContent(context, true);
  const artifacts = createArtifactRepository(database);
  const health = createBlobHealth(registry, damages);
  const keepQuarantined = 30 * day;
  const atRate = createByteRate(verification.bytesPerSecond);
  const verify: PeriodicTask = {
    name: 'verify stored files',
    pause: minute,
    run: (signal) =>
      verifyBlobs(
        {
          files,
          blobs,
          progress: damages,
          reportDamage,
          clock,
          passEvery: verification.passEvery,
          throttle: (bytes, stop) => {
            health.verified(bytes);
            return atRate(bytes, stop);
          },
        },
        signal,
      ),
  };
  context.startTasks([
    {
      name: 'reconcile files',
      pause: hour,
      run: async (signal) => {
        // Uses the system clock, because it compares with times of the disk, and the database's clock may differ.
        const deps = { files, blobs, damages, reportDamage, clock: systemClock, logger, keepQuarantined };
        health.reconciled(await reconcileFiles({ ...deps, sweepUnfinished }, signal));
      },
    },
    // Failed deletes returned 503, and their content is still stored.
    { name: 'finish deletes', pause: minute, run: (signal) => finishDeletes({ files, blobs, logger }, signal) },
    {
      name: 'delete expired artifacts',
      pause: minute,
      run: createArtifactSweep({ artifacts, files, blobs, clock, logger, metrics: registry }),
    },
    verify,
  ]);
  const conditions = async () => [...(await health.conditions()), ...(await uploadSpace.conditions())];
  return { files, blobs, reportDamage, downloadOrder: createDownloadOrder(context.admission), conditions };
}

/**
 * Opens the stored content in a process that serves no files. Returns null when its data folder is not that of the store: what
 * it wrote there, no other process would find.
 */
export async function openSharedContent(context: ContentContext): Promise<StoredFiles | null> {
  const { config, database, logger } = context;
  if (config.blobs === null && !(await isDataFolder(config.dataFolder, createStoreRepository(database)))) {
    logger.warn(
      { data_folder: config.dataFolder },
      'artifacts off: the data folder is not that of the process that serves files',
    );
    return null;
  }
  const { blobs, files, reportDamage } = await openContent(context, false);
  return {
    blobs,
    files,
    reportDamage,
    downloadOrder: createDownloadOrder(context.admission),
    conditions: async () => [],
  };
}

/** @param claims whether this process may claim an unused object storage for the store */
async function openContent(context: ContentContext, claims: boolean) {
  const { config, clock, logger, resources, registry, database, ballast, space } = context;
  const leastFreeBytes = config.minFreeDiskMb * 2 ** 20;
  const { blobs: store, sweepUnfinished } = await openBlobStore(context, { leastFreeBytes, claims });
  const uploadSpace = createUploadSpace({
    leastFreeBytes,
    logger,
    metrics: registry,
    refusal: diskNearlyFull,
    freeBytes: () => freeBytes(config.dataFolder),
    reserve: ballast,
    isBackgroundPaused: space.isLow,
    checkRoom: store.checkRoom,
  });
  const blobs: BlobStore = { ...store, checkRoom: uploadSpace.check };
  resources.defer(() => blobs.close());
  const damages = createBlobRepository(database);
  const reportDamage = createDamageReport({ damages, blobs, clock, logger });
  const files = createFileRepository(database, { hasIntents: config.blobs !== null });
  return { blobs, damages, reportDamage, files, uploadSpace, sweepUnfinished };
}

/** The minimum reserve of background work. It applies even if the setting for uploads is lower. */
const leastReserveBytes = 16 * 2 ** 20;

/**
 * Watches the disk of a SQLite store. Open it before the database, whose start may need the space of the ballast. Uploads stop at
 * the configured minimum and background work at half of it, so that accepted uploads can usually be processed.
 */
export async function openDiskSpace(
  { databaseUrl, serve, dataFolder: folder, minFreeDiskMb }: Config,
  { logger, registry: metrics, resources }: Pick<ServiceContext, 'logger' | 'registry' | 'resources'>,
): Promise<{ readonly space: DiskSpace; readonly ballast: Ballast }> {
  if (databaseUrl !== null) return { space: unlimitedSpace, ballast: noBallast };
  const leastFree = minFreeDiskMb * 2 ** 20;
  const reserveBytes = Math.max(leastReserveBytes, leastFree / 2);
  const options = {
    folder,
    bytes: ballastBytes(await diskBytes(folder)),
    remaining: Math.max(reserveBytes, leastFree),
    logger,
  };
  // Only the process that serves the files address manages the ballast.
  const ballast = serve === 'plugins' ? noBallast : await openBallast(options, await freeBytes(folder));
  const space = watchDiskSpace({ folder, reserveBytes, ballast, logger, metrics });
  resources.defer(() => space.close());
  return { space, ballast };
}

const noBallast: Ballast = { adjust: async () => undefined, isReleased: () => false, missingBytes: () => 0 };

const access = { writtenByGroup: 0o020, readByOthers: 0o004, writtenByOthers: 0o002 } as const;

/**
 * Creates a missing data folder and checks its permissions.
 * @throws OperatorError with the remedy when this user cannot write to it, or when all users can
 */
export async function openDataFolder(folder: string, logger: Logger): Promise<void> {
  try {
    await createFolderPath(folder, 0o700);
    await checkAccess(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new OperatorError(
      code === 'ENOTDIR' || code === 'EEXIST'
        ? `The data folder ${folder} cannot be used, because it or a part of its path is a file. Set QUARTERMASTER_DATA to a folder.`
        : `The service cannot write to the data folder ${folder} (${code}). Make its user the owner, or set QUARTERMASTER_DATA to a folder that it can write to.`,
      { cause },
    );
  }
  await checkDataFolder(folder, logger);
  await assertNotMoved(folder);
}

/**
 * Checks the permissions of the data folder, which holds the content of all projects and the encryption key.
 * @throws OperatorError when all users of the machine can write to the folder
 */
export async function checkDataFolder(folder: string, logger: Logger): Promise<void> {
  const mode = await modeOf(folder);
  if (mode & access.writtenByOthers) {
    throw new OperatorError(
      `All users of this machine can write to the data folder ${folder} (mode ${octal(mode)}). ` +
        'Run "chmod o-w" on it, or set QUARTERMASTER_DATA to a folder inside of it, which is created with mode 0700.',
    );
  }
  if (mode & (access.writtenByGroup | access.readByOthers)) {
    logger.warn({ folder, mode: octal(mode), remedy: 'chmod 700' }, 'data folder open to other users');
  }
}

/**
 * Checks that each bundle folder of the settings exists, and the permissions of each bundle folder and of the bundles in it, because
 * the service runs their code. The folder of installed bundles may be missing.
 * @throws OperatorError when a folder of the settings is missing, or all users of the machine can write to one of them
 */
export async function checkBundleFolders(
  { installedBundles, bundleFolders }: Pick<Config, 'installedBundles' | 'bundleFolders'>,
  logger: Logger,
): Promise<void> {
  for (const folder of [installedBundles, ...bundleFolders]) {
    const isFolder = (await stat(folder).catch(() => undefined))?.isDirectory() === true;
    if (!isFolder && folder !== installedBundles) {
      throw new OperatorError(
        `QUARTERMASTER_BUNDLES names ${folder}, which is not a folder or cannot be read. Create the folder, or correct the setting.`,
      );
    }
    for (const path of [folder, ...(await foldersIn(folder))]) await checkBundleFolder(path, logger);
  }
}

async function checkBundleFolder(folder: string, logger: Logger): Promise<void> {
  const mode = await modeOf(folder);
  if (mode & access.writtenByOthers) {
    throw new OperatorError(
      `All users of this machine can write to the folder ${folder} (mode ${octal(mode)}), and the service runs the ` +
        'bundles in it. Run "chmod -R o-w" on it.',
    );
  }
  if (mode & access.writtenByGroup) {
    logger.warn({ folder, mode: octal(mode), remedy: 'chmod -R g-w' }, 'bundle folder writable by its group');
  }
}

/** The mode of a folder; 0 when it is missing. */
async function modeOf(folder: string): Promise<number> {
  return ((await stat(folder).catch(() => undefined))?.mode ?? 0) & 0o7777;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isFile()).map(({ name }) => join(folder, name));
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

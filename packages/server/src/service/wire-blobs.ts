import { openDiskBlobStore } from '../adapters/disk/disk-blob-store.ts';
import { diskNearlyFull } from '../adapters/disk/problems.ts';
import { createBlobRepository } from '../adapters/repositories/blob-repository.ts';
import { createFileRepository } from '../adapters/repositories/file-repository.ts';
import { type BlobHealth, createBlobHealth } from '../files/blob-metrics.ts';
import type { BlobStore } from '../files/blob-store.ts';
import type { FileRepository } from '../files/file-repository.ts';
import { finishDeletes, reconcileFiles } from '../files/maintenance/reconcile.ts';
import { createDamageReport, type ReportDamage } from '../files/maintenance/report-damage.ts';
import { verifyBlobs } from '../files/maintenance/verify-blobs.ts';
import { createByteRate } from '../kernel/byte-rate.ts';
import { systemClock } from '../kernel/clock.ts';
import { type PeriodicTask, startPeriodicTasks } from '../kernel/concurrency/periodic-task.ts';
import type { ServiceContext } from './context.ts';

/** Stored content with the rows that refer to it. */
export interface StoredFiles {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly reportDamage: ReportDamage;
  /** The detected problems of the stored content. */
  readonly conditions: BlobHealth['conditions'];
}

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000];

/** Opens the stored content and starts the tasks that reconcile it with its rows. */
export async function openStoredFiles({
  config,
  clock,
  logger,
  resources,
  registry,
  database,
  isDiskFull,
}: Pick<
  ServiceContext,
  'config' | 'clock' | 'logger' | 'resources' | 'registry' | 'database' | 'isDiskFull'
>): Promise<StoredFiles> {
  const store = await openDiskBlobStore(config.dataFolder, { leastFreeBytes: config.minFreeDiskMb * 2 ** 20, logger });
  const checkSpace = async () => {
    if (isDiskFull()) throw diskNearlyFull();
    await store.checkRoom();
  };
  const blobs: BlobStore = { ...store, checkRoom: checkSpace };
  resources.defer(() => blobs.close());
  const files = createFileRepository(database);
  const damages = createBlobRepository(database);
  const reportDamage = createDamageReport({ damages, blobs, clock, logger });
  const health = createBlobHealth(registry, damages);
  const keepQuarantined = config.quarantineDays * day;
  const atRate = createByteRate(config.verificationMbPerSecond * 2 ** 20);
  const verification: PeriodicTask = {
    name: 'verify stored files',
    pause: minute,
    run: (signal) =>
      verifyBlobs(
        {
          ...{ files, blobs, progress: damages, reportDamage, clock },
          passEvery: config.verificationDays * day,
          pace: (bytes, stop) => {
            health.verified(bytes);
            return atRate(bytes, stop);
          },
        },
        signal,
      ),
  };
  const upkeep = startPeriodicTasks(
    [
      {
        name: 'reconcile files',
        pause: hour,
        run: async (signal) => {
          // Uses the system clock, because it compares with times of the disk, and the database's clock may differ.
          const deps = { files, blobs, damages, reportDamage, clock: systemClock, logger, keepQuarantined };
          health.reconciled(await reconcileFiles(deps, signal));
        },
      },
      // Deletes that failed were answered with 503, and their content is still stored.
      { name: 'finish deletes', pause: minute, run: (signal) => finishDeletes({ files, blobs, logger }, signal) },
      ...(config.verificationMbPerSecond === 0 ? [] : [verification]),
    ],
    logger,
  );
  resources.defer(() => upkeep.close());
  return { files, blobs, reportDamage, conditions: health.conditions };
}

import { createBlobRepository } from './adapters/database/blob-repository.ts';
import { createFileRepository } from './adapters/database/file-repository.ts';
import { openDiskBlobStore } from './adapters/disk/disk-blob-store.ts';
import type { Base } from './compose.ts';
import type { BlobStore } from './files/blob-store.ts';
import type { FileRepository } from './files/file-repository.ts';
import { reconcileFiles } from './files/reconcile.ts';
import { createDamageReport, type ReportDamage } from './files/report-damage.ts';
import { startUpkeep } from './kernel/upkeep.ts';

/** Stored bytes with the rows that name them. */
export interface StoredFiles {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly reportDamage: ReportDamage;
}

const [hour, day] = [3_600_000, 24 * 3_600_000];

/** Opens the bytes of files, and starts what keeps them and their rows together. */
export async function openStoredFiles({ config, clock, logger, closer, database }: Base): Promise<StoredFiles> {
  const blobs = await openDiskBlobStore(config.dataFolder, { leastFreeBytes: config.minFreeDiskMb * 2 ** 20 });
  closer.add('blob store', () => blobs.close());
  const files = createFileRepository(database);
  const damages = createBlobRepository(database);
  const reportDamage = createDamageReport({ damages, blobs, clock, logger });
  const keepQuarantined = config.quarantineDays * day;
  const upkeep = startUpkeep(
    [
      {
        name: 'reconcile files',
        pause: hour,
        run: (signal) =>
          reconcileFiles({ files, blobs, damages, reportDamage, clock, logger, keepQuarantined }, signal),
      },
    ],
    logger,
  );
  closer.add('file upkeep', () => upkeep.close());
  return { files, blobs, reportDamage };
}

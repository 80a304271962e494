import { chmod, mkdir, readdir, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { idPrefixes, isId } from '../../platform/identifier.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { BlobQuarantine, BlobStore, StoredBlob } from '../../stores/files/blob-store.ts';
import { createBucketFolders } from './bucket-folders.ts';
import { createDiskQuarantine, emptyOldestFirst, listFolder, readBlob } from './disk-quarantine.ts';
import { isMissing, removeFile, renameFile } from './file-system.ts';
import { differentFileSystems, diskFailure, diskNearlyFull, notABlobId, readFailure } from './problems.ts';
import { createStagedFile, persistOnDisk } from './staging-file.ts';

/**
 * Stores blobs as files: `<folder>/staging/<blobId>.<pid>` while they arrive, `<folder>/blobs/<bucket>/<blobId>`
 * afterwards, and `<folder>/quarantine/<blobId>` when no row refers to them. The bucket is the id's time without its
 * last four digits, so that the uploads of half an hour share a folder and its sync. Refuses blobs while less than
 * `leastFreeBytes` is free. Refuses to start when staging and blobs are on different file systems. Source:
 * docs/contract.md "Storage", docs/contract.md "Files".
 */
export async function openDiskBlobStore(
  folder: string,
  { leastFreeBytes = 0, logger }: { leastFreeBytes?: number; logger?: Pick<Logger, 'warn'> } = {},
): Promise<BlobStore> {
  const staging = join(folder, 'staging');
  const blobs = join(folder, 'blobs');
  const quarantined = join(folder, 'quarantine');
  for (const path of [staging, blobs, quarantined]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o700);
  }
  const check = () => checkRename(staging, blobs);
  await check();
  await sweepStaging(staging);
  const buckets = createBucketFolders(blobs);
  const pathOf = (blobId: string) => join(blobs, bucketOf(blobId), blobId);

  const quarantine = createDiskQuarantine({
    folder: quarantined,
    pathOf,
    prepareFolder: (blobId) => buckets.create(bucketOf(blobId)),
    syncFolder: (blobId) => buckets.sync(bucketOf(blobId)),
  });
  return {
    checkRoom: createRoomCheck(folder, leastFreeBytes, { quarantine, logger }),
    quarantine,
    stage: (blobId) => {
      const bucket = bucketOf(blobId);
      const stagingPath = join(staging, `${blobId}.${process.pid}`);
      const persist = persistOnDisk({
        stagingPath,
        blobPath: pathOf(blobId),
        prepareFolder: () => buckets.create(bucket),
        syncFolder: () => buckets.sync(bucket),
      });
      return createStagedFile({ blobId, stagingPath, persist });
    },
    open: (blobId, range) => readBlob(pathOf(blobId), blobId, range),
    remove: async (blobId) => {
      try {
        await removeFile(pathOf(blobId));
        await quarantine.purge(blobId);
      } catch (error) {
        throw diskFailure(error);
      }
    },
    async size(blobId) {
      try {
        const found = await sizeOf(pathOf(blobId));
        // When the folder of all blobs is missing, a single blob is not reported as missing.
        if (found === undefined) await stat(blobs);
        return found;
      } catch (error) {
        throw diskFailure(error);
      }
    },
    list: () => listBlobs(blobs),
    check,
    close: () => buckets.close(),
  };
}

/** Milliseconds for which a measurement of the free space is reused, because thousands of uploads may ask for it. */
const freeSpaceHolds = 250;

/** Erases quarantined bytes on the disk, oldest first, until there is enough space. Only then is an upload refused. */
export function createRoomCheck(
  folder: string,
  leastFreeBytes: number,
  { quarantine, logger }: { quarantine?: BlobQuarantine; logger?: Pick<Logger, 'warn'> | undefined } = {},
): BlobStore['checkRoom'] {
  let lastCheck = Number.NEGATIVE_INFINITY;
  let free: Promise<number> = Promise.resolve(0);
  const measure = async () => {
    // `bavail` excludes the blocks that are reserved for root.
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  };
  const ask = async () => {
    if (quarantine !== undefined && (await measure()) < leastFreeBytes) {
      const erased = await emptyOldestFirst(quarantine, async () => (await measure()) >= leastFreeBytes);
      const fields = { blobs: erased.length, blob_ids: erased };
      if (erased.length > 0) logger?.warn(fields, 'quarantined blobs erased: the disk is nearly full');
    }
    return measure();
  };
  return async () => {
    if (leastFreeBytes === 0) return;
    if (performance.now() - lastCheck > freeSpaceHolds) {
      lastCheck = performance.now();
      free = ask();
    }
    if ((await free) < leastFreeBytes) throw diskNearlyFull();
  };
}

const timeDigits = 8;
const digitsWithinBucket = 4;

export function bucketOf(blobId: string): string {
  if (!isId(blobId) || !blobId.startsWith(idPrefixes.blob)) throw notABlobId(blobId);
  const prefix = idPrefixes.blob.length;
  return blobId.slice(prefix, prefix + timeDigits - digitsWithinBucket);
}

export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw readFailure(error);
  }
}

export async function* listBlobs(blobs: string): AsyncGenerator<StoredBlob> {
  for (const bucket of await readdir(blobs, { withFileTypes: true })) {
    if (!bucket.isDirectory()) continue;
    yield* listFolder(join(blobs, bucket.name));
  }
}

let probes = 0;

/** Tests the rename itself, because bind mounts of one device look alike and still refuse it. */
async function checkRename(staging: string, blobs: string): Promise<void> {
  const name = `.probe.${process.pid}.${++probes}`;
  const from = join(staging, name);
  const to = join(blobs, name);
  try {
    await writeFile(from, '', { mode: 0o600 });
    await renameFile(from, to);
  } catch (error) {
    const crossed = error instanceof Error && 'code' in error && error.code === 'EXDEV';
    throw crossed ? differentFileSystems(staging, blobs, error) : error;
  } finally {
    await removeFile(from);
    await removeFile(to);
  }
}

const hour = 3_600_000;

/**
 * Removes partial uploads of ended processes. Files of another running process stay for an hour after their last byte,
 * because during a restart the old process may be finishing its uploads.
 */
export async function sweepStaging(staging: string): Promise<void> {
  for (const entry of await readdir(staging, { withFileTypes: true })) {
    // The service creates no folders here. A foreign folder may be needed by its owner and does no harm.
    if (entry.isDirectory()) continue;
    const { name } = entry;
    const path = join(staging, name);
    const pid = Number(name.slice(name.lastIndexOf('.') + 1));
    if (isOther(pid) && (await isYoung(path))) continue;
    await removeFile(path);
  }
}

/** This process's own number in a file name belongs to an earlier process, as in a container. */
function isOther(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isYoung(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs < hour;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

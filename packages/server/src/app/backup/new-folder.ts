import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists } from '../../platform/disk/exists.ts';
import { createFolderPath, syncToDisk, syncTreeToDisk } from '../../platform/disk/sync-to-disk.ts';
import { folderExists, folderInStore, folderNotCreated, folderUnderWay, notUnfinished } from './problems.ts';

/** Locks a folder for this process. @throws when another process holds it */
export type LockFolder = (folder: string) => { release(): void };

/** The lock file; see `folder-lock.ts`. */
const lockFile = 'in-use.lock';

/**
 * Creates a folder completely or not at all: it is filled as `<folder>.unfinished`, synced and renamed. The remains of
 * an interrupted process are replaced; any other content there is refused.
 * @throws BackupError when the folder exists, is inside a data folder, cannot be created, or is being filled by another
 * process
 */
export async function createFolder<Result>(
  folder: string,
  lockFolder: LockFolder,
  fill: (folder: string) => Promise<Result>,
): Promise<Result> {
  const unfinished = unfinishedOf(folder);
  if (await exists(folder)) throw folderExists(folder);
  await checkOutsideStores(folder);
  await createFolderPath(unfinished, 0o700).catch((error: unknown) => {
    throw folderNotCreated(unfinished, error);
  });
  if (!(await isUnfinishedFolder(unfinished))) throw notUnfinished(unfinished);
  await chmod(unfinished, 0o700);
  const lock = lockUnfinished(unfinished, lockFolder);
  try {
    for (const name of await readdir(unfinished)) {
      if (!name.startsWith(lockFile)) await rm(join(unfinished, name), { recursive: true });
    }
    const result = await fill(unfinished);
    await syncTreeToDisk(unfinished);
    await rm(join(unfinished, lockFile));
    await rm(join(unfinished, `${lockFile}-journal`), { force: true });
    await rename(unfinished, folder);
    await syncToDisk(dirname(folder)).catch(async (error) => {
      // The new name may not survive a power failure. The folder gets its old name, because a folder with the new name
      // would refuse the next attempt.
      await rename(folder, unfinished);
      throw error;
    });
    return result;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

/** Returns the name of a folder until it is complete. */
export function unfinishedOf(folder: string): string {
  return `${folder}.unfinished`;
}

/** Throws when a parent is a data folder, which has the lock of its service. A finished backup has no lock. */
async function checkOutsideStores(folder: string): Promise<void> {
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    if (await exists(join(parent, lockFile))) throw folderInStore(folder, parent);
    if (parent === dirname(parent)) return;
  }
}

/**
 * Returns whether a backup or a restore created the folder: it is empty, has a lock, or has the blobs of an earlier
 * version.
 */
async function isUnfinishedFolder(unfinished: string): Promise<boolean> {
  if (!(await lstat(unfinished)).isDirectory()) return false;
  const names = await readdir(unfinished);
  return names.length === 0 || names.includes(lockFile) || names.includes('blobs');
}

function lockUnfinished(unfinished: string, lockFolder: LockFolder): { release(): void } {
  try {
    return lockFolder(unfinished);
  } catch (error) {
    throw folderUnderWay(unfinished, error);
  }
}

import { randomUUID } from 'node:crypto';
import { lstat, readdir, readlink, rename, rm, symlink, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { syncToDisk } from '../kernel/disk/sync-to-disk.ts';
import type { OpenedArchive } from './archive.ts';
import { idTaken, notInstalled, signatureFileDamaged } from './problems.ts';
import {
  createReadableFolder,
  type InstalledBundle,
  isIntact,
  readSignatureFile,
  signatureFileName,
  writeVersion,
} from './version-folder.ts';

export type { InstalledBundle };

/**
 * A folder of installed bundles. Versions lie side by side in `.versions/<digest>/<bundle_id>`; the version in force is
 * a symbolic link, replaced by a rename: who reads meets the old version or the new one, and never a mixture.
 */
export interface InstalledBundles {
  /** Sorted by id. @throws PackagingError when one of them is damaged */
  list(): Promise<readonly InstalledBundle[]>;
  /** @throws PackagingError when it is damaged, so that nobody takes the place of an unknown publisher */
  find(bundleId: string): Promise<InstalledBundle | undefined>;
  /** Writes the files of a version and calls `check` with their folder before anything is in force. */
  put(archive: OpenedArchive, check: (folder: string) => Promise<void>): Promise<void>;
  /** @throws PackagingError when it is not installed */
  remove(bundleId: string): Promise<void>;
}

export const versionsName = '.versions';
/** Runs that began before may still read a version that is no longer in force; none takes nearly as long. */
const keptMs = 3_600_000;

export function createInstalledBundles(folder: string, clock: Clock = systemClock): InstalledBundles {
  const versions = join(folder, versionsName);

  async function find(bundleId: string): Promise<InstalledBundle | undefined> {
    const target = await linkOf(bundleId);
    if (target === undefined) return undefined;
    const found = await readSignatureFile(dirname(join(folder, target)));
    if (found === undefined) throw signatureFileDamaged(bundleId);
    return found;
  }

  async function linkOf(bundleId: string): Promise<string | undefined> {
    const target = await readlink(join(folder, bundleId)).catch(() => undefined);
    return target?.startsWith(`${versionsName}/`) ? target : undefined;
  }

  async function list(): Promise<InstalledBundle[]> {
    const names = (await namesIn(folder)).filter((name) => !name.startsWith('.')).sort();
    const found = await Promise.all(names.map(find));
    return found.filter((one) => one !== undefined);
  }

  /** A folder that somebody made by hand is theirs. */
  async function refuseForeign(bundleId: string): Promise<void> {
    const there = await lstat(join(folder, bundleId)).catch(() => undefined);
    if (there !== undefined && (await linkOf(bundleId)) === undefined) throw idTaken(bundleId, folder);
  }

  async function put(archive: OpenedArchive, check: (path: string) => Promise<void>): Promise<void> {
    const { bundleId } = archive.contents;
    await refuseForeign(bundleId);
    const staging = join(versions, `.${randomUUID()}`);
    try {
      await createReadableFolder(folder);
      await createReadableFolder(versions);
      await writeVersion(staging, { ...archive, installedAt: clock.now() });
      await check(join(staging, bundleId));
      const version = await placeVersion(staging, join(versions, archive.digest), archive);
      await switchTo(bundleId, join(versionsName, basename(version), bundleId));
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
    await prune();
  }

  async function switchTo(bundleId: string, target: string): Promise<void> {
    const before = await linkOf(bundleId);
    if (before !== undefined && before !== target) await leave(before);
    const draft = join(folder, `.${randomUUID()}`);
    try {
      await symlink(target, draft);
      await rename(draft, join(folder, bundleId));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await syncToDisk(folder);
  }

  /** From now on it is out of force. */
  async function leave(target: string): Promise<void> {
    const now = new Date(clock.now());
    await utimes(dirname(join(folder, target)), now, now).catch(() => undefined);
  }

  /** Takes away what is out of force, and what a process that was killed left behind. */
  async function prune(): Promise<void> {
    const names = await namesIn(folder);
    const targets = await Promise.all(names.map(linkOf));
    const inForce = new Set(targets.flatMap((target) => (target === undefined ? [] : [basename(dirname(target))])));
    for (const name of await namesIn(versions)) if (!inForce.has(name)) await removeOld(join(versions, name));
    for (const name of names) if (isDraft(name)) await removeOld(join(folder, name));
  }

  /** Under another name first: a version is there as a whole or not at all. Others may be doing the same. */
  async function removeOld(path: string): Promise<void> {
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined || clock.now() - stats.mtimeMs <= keptMs) return;
    const leaving = join(dirname(path), `.${randomUUID()}`);
    await rename(path, leaving).then(
      () => rm(leaving, { recursive: true, force: true }),
      () => undefined,
    );
  }

  return {
    list,
    find,
    put,
    async remove(bundleId) {
      const target = await linkOf(bundleId);
      if (target === undefined) throw notInstalled(bundleId);
      await rm(join(folder, bundleId));
      await leave(target);
      await prune();
    },
  };
}

/** None when the folder is not there. Another failure is one: nothing may look as if nobody needed it. */
async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** `.` and a UUID */
function isDraft(name: string): boolean {
  return /^\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);
}

/**
 * The same digest means the same files: a version that is there already is kept, its seal is that of the newer archive.
 * When its files are no longer as they were, the new one lies beside it.
 * @returns where it lies
 */
async function placeVersion(staging: string, place: string, archive: OpenedArchive): Promise<string> {
  const isPlaced = await rename(staging, place).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false;
      throw error;
    },
  );
  if (!isPlaced && (await isIntact(place, archive))) {
    await rename(join(staging, signatureFileName), join(place, signatureFileName));
    await syncToDisk(place);
  } else if (!isPlaced) {
    const beside = `${place}.${randomUUID()}`;
    await rename(staging, beside);
    await syncToDisk(dirname(place));
    return beside;
  }
  await syncToDisk(dirname(place));
  return place;
}

import { randomUUID } from 'node:crypto';
import { lstat, readdir, readlink, realpath, rename, rm, symlink, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { syncToDisk } from '../../platform/disk/sync-to-disk.ts';
import type { OpenedArchive } from './archive.ts';
import { describeChange } from './changed-files.ts';
import { idTaken, notInstalled, signatureFileDamaged } from './problems.ts';
import {
  createReadableFolder,
  type InstalledBundle,
  isIntact,
  readSignatureFile,
  signatureFileName,
  writeVersion,
} from './version-folder.ts';

/**
 * A folder of installed bundles. Versions are stored in `.versions/<digest>/<bundle_id>`. A symbolic link selects the version in
 * force and is replaced atomically, so a reader sees either the old or the new version.
 */
export interface InstalledBundles {
  /** Sorted by id. @throws PackagingError when one of them is damaged */
  list(): Promise<readonly InstalledBundle[]>;
  /** @throws PackagingError when it is damaged, because its publisher is then unknown and must not be replaced */
  find(bundleId: string): Promise<InstalledBundle | undefined>;
  /** Writes the files of a version and calls `check` with their folder before the version takes effect. */
  put(archive: OpenedArchive, check: (folder: string) => Promise<void>): Promise<void>;
  /** Writes the files of a version, calls `check` with their folder, and removes them again. */
  check<T>(archive: OpenedArchive, check: (folder: string) => Promise<T>): Promise<T>;
  /** Whether the files of the version in force are those of its archive. */
  isUnchanged(bundleId: string): Promise<boolean>;
  /** @throws PackagingError when the bundle is not installed */
  remove(bundleId: string): Promise<void>;
}

export const versionsName = '.versions';
/** Milliseconds for which a replaced version is kept, because earlier runs may still read it. No run takes nearly as long. */
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

  /** Refuses a folder that was not created by an installation. */
  async function refuseForeign(bundleId: string): Promise<void> {
    const there = await lstat(join(folder, bundleId)).catch(() => undefined);
    if (there !== undefined && (await linkOf(bundleId)) === undefined) throw idTaken(bundleId, folder);
  }

  async function staged<T>(archive: OpenedArchive, use: (staging: string) => Promise<T>): Promise<T> {
    await refuseForeign(archive.contents.bundleId);
    const staging = join(versions, `.${randomUUID()}`);
    try {
      await createReadableFolder(folder);
      await createReadableFolder(versions);
      await writeVersion(staging, { ...archive, installedAt: clock.now() });
      return await use(staging);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }

  async function put(archive: OpenedArchive, check: (path: string) => Promise<void>): Promise<void> {
    const { bundleId } = archive.contents;
    await staged(archive, async (staging) => {
      await check(join(staging, bundleId));
      const version = await placeVersion(staging, join(versions, archive.digest), archive);
      await switchTo(bundleId, join(versionsName, basename(version), bundleId));
    });
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

  /** Records when the version stopped being in force. */
  async function leave(target: string): Promise<void> {
    const now = new Date(clock.now());
    await utimes(dirname(join(folder, target)), now, now).catch(() => undefined);
  }

  /** Removes versions that are no longer in force, and remains of killed processes. */
  async function prune(): Promise<void> {
    const names = await namesIn(folder);
    const targets = await Promise.all(names.map(linkOf));
    const inForce = new Set(targets.flatMap((target) => (target === undefined ? [] : [basename(dirname(target))])));
    for (const name of await namesIn(versions))
      if (!inForce.has(name)) await removeOld(join(versions, name), clock.now());
    for (const name of names) if (isDraft(name)) await removeOld(join(folder, name), clock.now());
  }

  return {
    list,
    find,
    put,
    check: (archive, check) => staged(archive, (staging) => check(join(staging, archive.contents.bundleId))),
    isUnchanged: async (bundleId) =>
      (await describeChange(await realpath(join(folder, bundleId)).catch(() => ''))) === null,
    async remove(bundleId) {
      const target = await linkOf(bundleId);
      if (target === undefined) throw notInstalled(bundleId);
      await rm(join(folder, bundleId));
      await leave(target);
      await prune();
    },
  };
}

/** Renames the folder before it is removed, so that a version is either complete or absent. Other processes may prune too. */
async function removeOld(path: string, now: number): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined || now - stats.mtimeMs <= keptMs) return;
  const leaving = join(dirname(path), `.${randomUUID()}`);
  await rename(path, leaving).then(
    () => rm(leaving, { recursive: true, force: true }),
    () => undefined,
  );
}

/** The names in a folder; empty when it does not exist. Other errors are thrown, because they must not make versions look unused. */
async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** Whether a name is `.` followed by a UUID. */
function isDraft(name: string): boolean {
  return /^\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);
}

/**
 * Moves a version to its place. The same digest means the same files, so an intact existing version is kept and gets the newer
 * signature file. When its files have changed, the new version is placed beside it.
 * @returns the folder of the version
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

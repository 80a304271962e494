import { randomUUID } from 'node:crypto';
import { lstat, readdir, readlink, realpath, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { exists } from '../../platform/disk/exists.ts';
import { syncToDisk } from '../../platform/disk/sync-to-disk.ts';
import type { OpenedArchive } from './archive.ts';
import { findChangedFiles } from './changed-files.ts';
import { idTaken, notInstalled, signatureFileDamaged } from './problems.ts';
import {
  createReadableFolder,
  type InstalledBundle,
  isIntact,
  packVersion,
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
  /** The ids of all installed bundles, also of damaged ones. */
  names(): Promise<readonly string[]>;
  /** Packs the active version again, without a check of its files. @throws Error when one of them cannot be read */
  pack(bundleId: string): Promise<Buffer>;
  /** Whether every bundle in the folder has, or had, a row in the database. Earlier versions wrote no rows. */
  hasRows(): Promise<boolean>;
  markRows(): Promise<void>;
  /** The paths of files that differ from the archive of the active version. With any, the version is not served. */
  changedFiles(bundleId: string): Promise<readonly string[]>;
  /** @throws PackagingError when the bundle is not installed */
  remove(bundleId: string): Promise<void>;
}

export const versionsName = '.versions';
const rowsName = '.rows';
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

  const linkOf = (bundleId: string) => readLink(join(folder, bundleId));

  async function names(): Promise<string[]> {
    const all = (await namesIn(folder)).filter((name) => !name.startsWith('.')).sort();
    const targets = await Promise.all(all.map(linkOf));
    return all.filter((_name, index) => targets[index] !== undefined);
  }

  async function list(): Promise<InstalledBundle[]> {
    const found = await Promise.all((await names()).map(find));
    return found.filter((one) => one !== undefined);
  }

  async function staged<T>(archive: OpenedArchive, use: (staging: string) => Promise<T>): Promise<T> {
    await refuseForeign(folder, archive.contents.bundleId);
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
    names,
    pack: async (bundleId) => await packVersion(await versionOf(folder, bundleId)),
    hasRows: async () => await exists(join(folder, rowsName)),
    markRows: () => markRows(folder),
    put,
    check: (archive, check) => staged(archive, (staging) => check(join(staging, archive.contents.bundleId))),
    changedFiles: async (bundleId) => await findChangedFiles(await versionOf(folder, bundleId)),
    async remove(bundleId) {
      const target = await linkOf(bundleId);
      if (target === undefined) throw notInstalled(bundleId);
      await rm(join(folder, bundleId));
      await leave(target);
      await prune();
    },
  };
}

/** The version that a link selects; undefined for what was not created by an installation. */
async function readLink(path: string): Promise<string | undefined> {
  const target = await readlink(path).catch(() => undefined);
  return target?.startsWith(`${versionsName}/`) ? target : undefined;
}

/** Refuses a folder that was not created by an installation. */
async function refuseForeign(folder: string, bundleId: string): Promise<void> {
  const there = await lstat(join(folder, bundleId)).catch(() => undefined);
  if (there !== undefined && (await readLink(join(folder, bundleId))) === undefined) throw idTaken(bundleId, folder);
}

async function versionOf(folder: string, bundleId: string): Promise<string> {
  return dirname(await realpath(join(folder, bundleId)));
}

async function markRows(folder: string): Promise<void> {
  await createReadableFolder(folder);
  await writeFile(join(folder, rowsName), '');
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

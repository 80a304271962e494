import { randomUUID } from 'node:crypto';
import {
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { syncToDisk } from '../kernel/sync-to-disk.ts';
import type { OpenedArchive } from './archive.ts';
import { archiveId, type Contents, readContents, sha256 } from './contents.ts';
import { idTaken, notInstalled } from './problems.ts';
import type { PublicKeyText } from './signatures.ts';

/** An installed bundle: a version of it, and where it came from. */
export interface InstalledBundle {
  readonly bundleId: string;
  readonly contents: Contents;
  /** `weather@1.2.0+sha256.<digest>` */
  readonly id: string;
  /** Null: it was not signed. */
  readonly publisher: PublicKeyText | null;
}

/**
 * A folder of installed bundles. Versions lie side by side in `.versions/<digest>/<bundle_id>`; the version in force is
 * a symbolic link, replaced by a rename: who reads meets the old version or the new one, and never a mixture.
 */
export interface InstalledBundles {
  /** Sorted by id. */
  list(): Promise<readonly InstalledBundle[]>;
  find(bundleId: string): Promise<InstalledBundle | undefined>;
  /** Writes the files of a version and calls `check` with their folder before anything is in force. */
  put(archive: OpenedArchive, check: (folder: string) => Promise<void>): Promise<void>;
  /** @throws PackagingError when it is not installed */
  remove(bundleId: string): Promise<void>;
}

const versionsName = '.versions';
const sealName = 'seal.json';
/** Runs that began before may still read a version that is no longer in force; none takes nearly as long. */
const keptMs = 3_600_000;

export function createInstalledBundles(folder: string, clock: Clock = systemClock): InstalledBundles {
  const versions = join(folder, versionsName);

  async function find(bundleId: string): Promise<InstalledBundle | undefined> {
    const target = await linkOf(bundleId);
    return target === undefined ? undefined : await readSeal(dirname(join(folder, target)));
  }

  async function linkOf(bundleId: string): Promise<string | undefined> {
    const target = await readlink(join(folder, bundleId)).catch(() => undefined);
    return target?.startsWith(`${versionsName}/`) ? target : undefined;
  }

  async function list(): Promise<InstalledBundle[]> {
    const names = await readdir(folder).catch((): string[] => []);
    const found = await Promise.all(
      names
        .filter((name) => !name.startsWith('.'))
        .sort()
        .map(find),
    );
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
      await writeVersion(staging, { ...archive, installedAt: clock.now() });
      await check(join(staging, bundleId));
      await placeVersion(staging, join(versions, archive.digest));
      await switchTo(bundleId, archive.digest);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
    await prune();
  }

  async function switchTo(bundleId: string, digest: string): Promise<void> {
    const before = await linkOf(bundleId);
    const draft = join(folder, `.${bundleId}.${randomUUID()}`);
    await symlink(join(versionsName, digest, bundleId), draft);
    await rename(draft, join(folder, bundleId));
    await syncToDisk(folder);
    if (before !== undefined) await leave(before);
  }

  /** From now on it is out of force. */
  async function leave(target: string): Promise<void> {
    const now = new Date(clock.now());
    await utimes(dirname(join(folder, target)), now, now).catch(() => undefined);
  }

  async function prune(): Promise<void> {
    const inForce = new Set((await list()).map(({ id }) => id.slice(id.lastIndexOf('.') + 1)));
    for (const name of await readdir(versions)) {
      if (inForce.has(name)) continue;
      const { mtimeMs } = await lstat(join(versions, name));
      if (clock.now() - mtimeMs > keptMs) await rm(join(versions, name), { recursive: true, force: true });
    }
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

async function readSeal(version: string): Promise<InstalledBundle | undefined> {
  const text = await readFile(join(version, sealName), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { contents: contentsText, signature } = JSON.parse(text);
  const bytes = Buffer.from(String(contentsText));
  const contents = readContents(bytes);
  const publisher = signature === null ? null : signature.public_key;
  return { bundleId: contents.bundleId, contents, id: archiveId(contents, sha256(bytes)), publisher };
}

/** Readable by everybody: handlers run as another user than the service. */
async function writeVersion(
  staging: string,
  { contents, contentsBytes, signature, files, installedAt }: OpenedArchive & { readonly installedAt: number },
): Promise<void> {
  const root = join(staging, contents.bundleId);
  await mkdir(root, { recursive: true });
  for (const [path, content] of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeSynced(join(root, path), content);
  }
  const seal = { contents: contentsBytes.toString('utf8'), signature, installed_at: installedAt };
  await writeSynced(join(staging, sealName), Buffer.from(`${JSON.stringify(seal, null, 2)}\n`));
  await syncToDisk(root);
  await syncToDisk(staging);
}

async function writeSynced(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The same digest means the same files: a version that is there already is kept, its seal is that of the newer archive. */
async function placeVersion(staging: string, place: string): Promise<void> {
  try {
    await rename(staging, place);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // thrown by the file system
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    await copyFile(join(staging, sealName), join(place, `${sealName}.new`));
    await rename(join(place, `${sealName}.new`), join(place, sealName));
  }
  await syncToDisk(dirname(place));
}

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { openArchive } from './archive.ts';
import { bundleLimits } from './contents.ts';
import type { InstalledBundles } from './installed-bundles.ts';
import { archiveRefused, publisherChanged, publisherUnknown, unsigned } from './problems.ts';
import type { PublicKeyText } from './signatures.ts';

export interface InstallOptions {
  readonly file: string;
  readonly allowUnsigned: boolean;
  readonly allowUnknown: boolean;
}

export interface InstallDeps {
  readonly installed: InstalledBundles;
  readonly trusted: ReadonlySet<PublicKeyText>;
  /** Reads the unpacked bundle as the service will. @throws when the service would refuse it or its id is taken */
  readonly check: (folder: string) => Promise<void>;
}

export interface Installation {
  readonly id: string;
  readonly publisher: PublicKeyText | null;
  /** The id of the version that was in force before; null when there was none. */
  readonly replaced: string | null;
}

/** Installs one archive. When any check fails, nothing changes. @throws PackagingError */
export async function installBundle(
  options: InstallOptions,
  { installed, trusted, check }: InstallDeps,
): Promise<Installation> {
  const archive = await openArchive(await readBounded(options.file));
  const publisher = archive.signature?.public_key ?? null;
  if (publisher === null && !options.allowUnsigned) throw unsigned(archive.id);
  if (publisher !== null && !trusted.has(publisher) && !options.allowUnknown)
    throw publisherUnknown(archive.id, publisher);
  const before = await installed.find(archive.contents.bundleId);
  if (before !== undefined && before.publisher !== null && before.publisher !== publisher) {
    throw publisherChanged(before.bundleId, before.publisher);
  }
  await installed.put(archive, check);
  return { id: archive.id, publisher, replaced: before === undefined || before.id === archive.id ? null : before.id };
}

/** Reads a file within the limit, also when it grows in the meantime. It does not block on a pipe without a writer. */
async function readBounded(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw archiveRefused('it must be a regular file');
    if (stats.size > bundleLimits.archiveBytes)
      throw archiveRefused(`it must be at most ${bundleLimits.archiveBytes} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

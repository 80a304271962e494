import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleFolder } from './bundle-folders.ts';
import { type PackedBundle, unpackBundle } from './packed-bundle.ts';

/**
 * Parsed and checked bundles on disk, one file a bundle, so that a start parses no YAML. An entry counts while the stamp of the
 * bundle's files is the same; a bundle with a mistake is never cached. Format: packed-bundle.ts.
 */
export interface ManifestCache {
  /** Identifies the version of a bundle's files and of the checks. An entry with another key is ignored. */
  keyOf(folder: BundleFolder): string;
  /** Undefined when the bundle must be read: there is no entry, it is of another version, or it is damaged. */
  find(folder: BundleFolder): PackedBundle | undefined;
  /** Never fails: without the entry the next start takes longer. */
  store(folder: BundleFolder, packed: Buffer): Promise<void>;
  /** Removes the entries of bundles that are gone. */
  retain(folders: readonly BundleFolder[]): Promise<void>;
}

export interface ManifestCacheOptions {
  /** A folder that nothing but the service writes. */
  readonly folder: string;
  /** Searched for what is not in the folder, and only read. */
  readonly installed?: Pick<ManifestCache, 'find'>;
  /** Of the product. */
  readonly version: string;
  /** Another text means that a file of the bundle has changed. Default: from the names, sizes, times and inodes of its files. */
  readonly stampOf?: (folder: BundleFolder) => string;
}

/** Increase it when a check of manifests, a default or the format of an entry changes. */
const cacheVersion = 1;
const suffix = '.bundle';

export function createManifestCache(options: ManifestCacheOptions): ManifestCache {
  const { folder: cacheFolder, installed, version, stampOf = ({ stamp }) => stamp } = options;
  const checks = `${cacheVersion} ${version} ${process.version}`;
  const nameOf = ({ name, path }: BundleFolder) => `${name}.${hash('sha256', path).slice(0, 16)}${suffix}`;
  const keyOf = (folder: BundleFolder) => `${checks} ${folder.path} ${stampOf(folder)}`;

  return {
    keyOf,
    find(folder) {
      const packed = readTrusted(join(cacheFolder, nameOf(folder)));
      const bundle = packed === undefined ? undefined : unpackBundle(packed, keyOf(folder));
      return bundle ?? installed?.find(folder);
    },
    async store(folder, packed) {
      const file = join(cacheFolder, nameOf(folder));
      const draft = `${file}.${process.pid}.draft`;
      try {
        await mkdir(cacheFolder, { recursive: true, mode: 0o700 });
        await writeFile(draft, packed, { mode: 0o600 });
        await rename(draft, file);
      } catch {
        await rm(draft, { force: true }).catch(() => undefined);
      }
    },
    async retain(folders) {
      const wanted = new Set(folders.map(nameOf));
      const names = await readdir(cacheFolder).catch(() => []);
      const stale = names.filter((name) => name.endsWith(suffix) && !wanted.has(name));
      await Promise.all(stale.map((name) => rm(join(cacheFolder, name), { force: true }).catch(() => undefined)));
    },
  };
}

/** Reads a file if only the service, the installing user or root can have written it. */
function readTrusted(file: string): Buffer | undefined {
  try {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const facts = fstatSync(descriptor);
      const writers = [0, process.geteuid?.() ?? facts.uid, statSync(import.meta.filename).uid];
      const isTrusted = facts.isFile() && (facts.mode & 0o022) === 0 && writers.includes(facts.uid);
      return isTrusted ? readFileSync(descriptor) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Missing or unreadable: the cache is optional.
    return undefined;
  }
}

import { createHash, hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../manifest/plain-file.ts';
import { type BundleFolder, findBundleFolders } from './bundle-folders.ts';
import { type PackedBundle, unpackBundle } from './packed-bundle.ts';
import { readPackedBundle } from './read-packed-bundle.ts';

/**
 * Parsed and checked bundles on disk, one file for each, so that a start parses no YAML. An entry is valid while the stamp of the
 * bundle's files is the same. Bundles with errors are never cached. Format: packed-bundle.ts.
 */
export interface ManifestCache {
  /** Identifies the version of a bundle's files and of the checks. Entries with another key are ignored. */
  keyOf(folder: BundleFolder): string;
  /** Undefined when the bundle must be read: the entry is missing, outdated or damaged. */
  find(folder: BundleFolder): PackedBundle | undefined;
  /** Never fails. Without the entry the next start takes longer. */
  store(folder: BundleFolder, packed: Buffer): Promise<void>;
  /** Removes the entries of bundles that no longer exist. */
  retain(folders: readonly BundleFolder[]): Promise<void>;
}

export interface ManifestCacheOptions {
  /** A folder that only the service writes to. */
  readonly folder: string;
  /** A read-only cache that is searched for missing entries. */
  readonly installed?: Pick<ManifestCache, 'find'>;
  /** The version of the product. */
  readonly version: string;
  /** Returns a text that changes when a file of the bundle changes. Default: from names, sizes, times and inodes of the files. */
  readonly stampOf?: (folder: BundleFolder) => string;
}

/** Increase it when a check, a default or the content of an entry changes, such as the formats with losses. */
export const cacheVersion = 4;
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

/** Reads a file that only the service, the installing user or root can have written. */
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
    // The file is missing or unreadable. The cache is optional.
    return undefined;
  }
}

export type InstalledManifestsOptions = Pick<ManifestCacheOptions, 'folder' | 'version'>;

/**
 * Creates the manifest cache that the installation writes for the product's own bundles. Its stamps are digests of the contents,
 * because a copied or restored installation has other times and inodes.
 */
export function createInstalledManifests(options: InstalledManifestsOptions): ManifestCache {
  return createManifestCache({ ...options, stampOf: stampOfContents });
}

/** Writes an entry for each bundle in `bundles` without errors, and removes all other entries. */
export async function writeInstalledManifests(bundles: string, options: InstalledManifestsOptions): Promise<void> {
  const cache = createInstalledManifests(options);
  const { folders } = await findBundleFolders([bundles]);
  for (const folder of folders) {
    const request = { name: folder.name, path: folder.path, key: cache.keyOf(folder) };
    const { packed, failures } = await readPackedBundle(request);
    // A file changed while it was read.
    if (cache.keyOf(folder) !== request.key) continue;
    if (packed !== undefined && failures.length === 0) await cache.store(folder, packed);
  }
  await cache.retain(folders);
}

/** SHA-256 of the names and contents of all files in the folder that may belong to the bundle. */
function stampOfContents({ path }: BundleFolder): string {
  try {
    const folder = realpathSync(path);
    const digest = createHash('sha256').update(folder);
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const content = entry.isFile() ? readFileSync(join(folder, entry.name)) : undefined;
      digest.update(JSON.stringify([entry.name, entry.isSymbolicLink(), content?.length ?? null]));
      if (content !== undefined) digest.update(content);
    }
    return digest.digest('base64url');
  } catch (error) {
    return errorCode(error);
  }
}

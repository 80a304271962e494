import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type BundleFiles, filesAtStart } from './bundle-files.ts';
import { type BundleFolder, findBundleFolders } from './bundle-folders.ts';
import { createManifestCache, type ManifestCache, type ManifestCacheOptions } from './manifest-cache.ts';
import { errorCode } from './plain-file.ts';
import { readPackedBundle } from './read-packed-bundle.ts';

export type InstalledManifestsOptions = Pick<ManifestCacheOptions, 'folder' | 'version'>;

/**
 * The manifest cache that the installation writes for the product's own bundles. Its entries count while the contents of a
 * bundle's files are the same: a copied or restored installation has files with other times and inodes.
 */
export function createInstalledManifests(options: InstalledManifestsOptions): ManifestCache {
  return createManifestCache({ ...options, stampOf: stampOfContents });
}

/** Writes an entry for each bundle of `bundles` that has no mistake, and removes the others. */
export async function writeInstalledManifests(bundles: string, options: InstalledManifestsOptions): Promise<void> {
  const cache = createInstalledManifests(options);
  const { folders } = await findBundleFolders([bundles], filesAtStart);
  for (const folder of folders) {
    const request = { name: folder.name, path: folder.path, key: cache.keyOf(folder) };
    const { packed, failures } = await readPackedBundle(request, filesAtStart);
    // A file that changed while it was read.
    if (cache.keyOf(folder) !== request.key) continue;
    if (packed !== undefined && failures.length === 0) await cache.store(folder, packed);
  }
  await cache.retain(folders);
}

/** SHA-256 of the names and contents of all files in the folder that may belong to the bundle. */
function stampOfContents({ path }: BundleFolder): string {
  // `filesAtStart` answers at once.
  const files = filesAtStart as {
    [Name in keyof BundleFiles]: (path: string) => Awaited<ReturnType<BundleFiles[Name]>>;
  };
  try {
    const folder = files.realPath(path);
    const digest = createHash('sha256').update(folder);
    const entries = files.list(folder).filter(({ name }) => !name.startsWith('.'));
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const content = entry.isFile() ? files.content(join(folder, entry.name)) : undefined;
      digest.update(JSON.stringify([entry.name, entry.isSymbolicLink(), content?.length ?? null]));
      if (content !== undefined) digest.update(content);
    }
    return digest.digest('base64url');
  } catch (error) {
    return errorCode(error);
  }
}

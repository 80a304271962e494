import { realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists } from '../../platform/disk/exists.ts';
import { ownBundles } from '../../tools/catalogue/load/own-bundles.ts';
import { findChangedFiles } from '../../tools/packaging/changed-files.ts';
import { type Installation, type InstallOptions, installBundle } from '../../tools/packaging/install-bundle.ts';
import { createInstalledBundles } from '../../tools/packaging/installed-bundles.ts';
import { type PackedBundle, packBundle } from '../../tools/packaging/pack-bundle.ts';
import { bundleInvalid, idTaken } from '../../tools/packaging/problems.ts';
import { newKeyPair, type PublicKeyText, readPublicKey } from '../../tools/packaging/signatures.ts';
import { createTrustedPublishers, type Publisher } from '../../tools/packaging/trusted-publishers.ts';
import type { InstalledBundle } from '../../tools/packaging/version-folder.ts';
import { type BundleCheck, checkBundle, formatBundleFailure } from '../authoring/authoring.ts';
import { type Environment, parseConfig } from '../settings/config.ts';

export { replaceFile } from '../../platform/disk/replace-file.ts';
export type { Installation, InstalledBundle, Publisher };

export interface ListedBundle extends InstalledBundle {
  /** The paths of files that differ from the archive. The service does not serve a bundle with changed files. */
  readonly changed: readonly string[];
}

/** Manages the installed bundles of the settings, with or without a running service. A running service loads the changes. */
export interface PackageManager {
  readonly folder: string;
  install(request: InstallOptions): Promise<Installation>;
  list(): Promise<readonly ListedBundle[]>;
  remove(bundleId: string): Promise<void>;
  publishers(): Promise<readonly Publisher[]>;
  trust(key: string, name: string): Promise<void>;
  /** @returns whether the publisher had been trusted with `trust` */
  distrust(key: string): Promise<boolean>;
}

/** @throws ConfigError */
export function createPackageManager(environment: Environment): PackageManager {
  const { installedBundles: folder, bundleFolders } = parseConfig(environment);
  const installed = createInstalledBundles(folder);
  const trusted = createTrustedPublishers(folder);

  async function check(path: string): Promise<void> {
    const found = await checkBundle(path);
    refuseErrors(found, 'installed');
    const id = found.bundle?.id ?? '';
    for (const root of [ownBundles, ...bundleFolders]) {
      if (await exists(join(root, id, 'bundle.yaml'))) throw idTaken(id, root);
    }
  }

  return {
    folder,
    publishers: trusted.list,
    install: async (request) => {
      const keys = new Set<PublicKeyText>((await trusted.list()).map(({ key }) => key));
      return await installBundle(request, { installed, trusted: keys, check });
    },
    list: async () => {
      const listed: ListedBundle[] = [];
      for (const bundle of await installed.list()) {
        const version = dirname(await realpath(join(folder, bundle.bundleId)));
        listed.push({ ...bundle, changed: await findChangedFiles(version) });
      }
      return listed;
    },
    remove: (bundleId) => installed.remove(bundleId),
    trust: async (key, name) => await trusted.add({ key: readPublicKey(key), name }),
    distrust: async (key) => await trusted.remove(readPublicKey(key)),
  };
}

/** Packs a bundle that loads without errors. @throws PackagingError */
export async function packFolder(folder: string, keyFile: string | null): Promise<PackedBundle> {
  const found = await checkBundle(folder);
  refuseErrors(found, 'packed');
  const { bundle } = found;
  if (bundle === undefined) throw bundleInvalid([`${folder} is not a bundle`], 'packed');
  return await packBundle({
    folder: bundle.folder,
    bundleId: bundle.id,
    version: bundle.manifest.version,
    keyFile,
  });
}

/** Writes a new private key, readable by its owner only. It never overwrites a file. @returns the public key */
export async function writeNewKey(file: string): Promise<PublicKeyText> {
  const { privatePem, publicKey } = newKeyPair();
  await writeFile(file, privatePem, { mode: 0o600, flag: 'wx' });
  return publicKey;
}

function refuseErrors({ failures }: BundleCheck, undone: 'packed' | 'installed'): void {
  if (failures.length === 0) return;
  throw bundleInvalid(failures.map(formatBundleFailure), undone);
}

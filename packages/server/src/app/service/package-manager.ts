import { realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Audit, commandSource } from '../../platform/audit/audit.ts';
import { findChangedFiles } from '../../tools/packaging/changed-files.ts';
import { createInstalledBundles } from '../../tools/packaging/installed-bundles.ts';
import { type PackedBundle, packBundle } from '../../tools/packaging/pack-bundle.ts';
import { bundleInvalid } from '../../tools/packaging/problems.ts';
import { newKeyPair, type PublicKeyText, readPublicKey } from '../../tools/packaging/signatures.ts';
import { createTrustedPublishers, type Publisher } from '../../tools/packaging/trusted-publishers.ts';
import type { InstalledBundle } from '../../tools/packaging/version-folder.ts';
import { type BundleCheck, checkBundle, formatBundleFailure } from '../authoring/authoring.ts';
import { type Config, type Environment, parseConfig } from '../settings/config.ts';

export { replaceFile } from '../../platform/disk/replace-file.ts';
export type { InstalledBundle, Publisher };

export interface ListedBundle extends InstalledBundle {
  /** The paths of files that differ from the archive. The service does not serve a bundle with changed files. */
  readonly changed: readonly string[];
}

/** Lists the installed bundles of the settings and the trusted publishers, with or without a running service. */
export interface PackageManager {
  readonly folder: string;
  list(): Promise<readonly ListedBundle[]>;
  publishers(): Promise<readonly Publisher[]>;
}

/** Changes which publishers are trusted, and records it in the audit log. */
export interface PublisherAdministration {
  trust(key: string, name: string): Promise<void>;
  /** @returns whether the publisher had been trusted with `trust` */
  distrust(key: string): Promise<boolean>;
}

export function administerPublishers({ installedBundles: folder }: Config, audit: Audit): PublisherAdministration {
  const trusted = createTrustedPublishers(folder);
  const record = (action: 'publisher.trusted' | 'publisher.distrusted', id: string, details = {}) =>
    audit.record(commandSource(), { action, id, projectId: null, details });
  return {
    async trust(key, name) {
      const publisher = { key: readPublicKey(key), name };
      await trusted.add(publisher);
      await record('publisher.trusted', publisher.key, { name });
    },
    async distrust(key) {
      const isRemoved = await trusted.remove(readPublicKey(key));
      if (isRemoved) await record('publisher.distrusted', readPublicKey(key));
      return isRemoved;
    },
  };
}

/** @throws ConfigError */
export function createPackageManager(environment: Environment): PackageManager {
  const { installedBundles: folder } = parseConfig(environment);
  const installed = createInstalledBundles(folder);
  const trusted = createTrustedPublishers(folder);

  return {
    folder,
    publishers: trusted.list,
    list: async () => {
      const listed: ListedBundle[] = [];
      for (const bundle of await installed.list()) {
        const version = dirname(await realpath(join(folder, bundle.bundleId)));
        listed.push({ ...bundle, changed: await findChangedFiles(version) });
      }
      return listed;
    },
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

function refuseErrors({ failures }: BundleCheck, undone: 'packed'): void {
  if (failures.length === 0) return;
  throw bundleInvalid(failures.map(formatBundleFailure), undone);
}

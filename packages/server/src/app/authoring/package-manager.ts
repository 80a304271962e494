import { writeFile } from 'node:fs/promises';
import { type Audit, commandSource } from '../../platform/audit/audit.ts';
import { type PackedBundle, packBundle } from '../../tools/packaging/pack-bundle.ts';
import { bundleInvalid } from '../../tools/packaging/problems.ts';
import { newKeyPair, type PublicKeyText, readPublicKey } from '../../tools/packaging/signatures.ts';
import type { Publisher, TrustedPublishers } from '../../tools/packaging/trusted-publishers.ts';
import { type BundleCheck, checkBundle, formatBundleFailure } from './authoring.ts';

export { replaceFile } from '../../platform/disk/replace-file.ts';

/** Changes which publishers are trusted, and records it in the audit log. */
export interface PublisherAdministration {
  list(): Promise<readonly Publisher[]>;
  trust(key: string, name: string): Promise<void>;
  /** @returns whether the publisher had been trusted with `trust` */
  distrust(key: string): Promise<boolean>;
}

export function administerPublishers(trusted: TrustedPublishers, audit: Audit): PublisherAdministration {
  const record = (action: 'publisher.trusted' | 'publisher.distrusted', id: string, details = {}) =>
    audit.record(commandSource(), { action, id, projectId: null, details });
  return {
    list: trusted.list,
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

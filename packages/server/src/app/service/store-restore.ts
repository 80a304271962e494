import { copyFile, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { encryptionKeyFile } from '../../access/credential-profiles/encryption-key.ts';
import { exists } from '../../platform/disk/exists.ts';
import { openBlobFolder } from '../../storage/disk/blob-folder.ts';
import { lockFolder } from '../../storage/disk/folder-lock.ts';
import { takeSqliteSnapshot } from '../../storage/sqlite/sqlite-snapshot.ts';
import { identityFile } from '../../stores/files/store-identity.ts';
import {
  type BackupFacts,
  type BackupFault,
  type CopyProgress,
  checkApart,
  copyBlobs,
  copyBundles,
  readBackupFacts,
} from '../backup/backup.ts';
import { blobListFile } from '../backup/blob-list.ts';
import { createFolder } from '../backup/new-folder.ts';
import { claimNeeded, contentDamaged, otherDatabase } from '../backup/problems.ts';
import { openRestoredObjects } from '../backup/restored-objects.ts';
import { carryModelList } from '../settings/chosen-models.ts';
import { type Environment, parseConfig } from '../settings/config.ts';

export interface RestoreOptions {
  /** Whether to leave out files with missing or changed content. Otherwise nothing is restored when there is one. */
  readonly damaged: boolean;
  /** Whether to read the objects of a backup whose content stayed in object storage. Otherwise only their sizes are compared. */
  readonly hash: boolean;
  /** Whether the restored store may become the only one that uses the object storage. */
  readonly claim: boolean;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface Restored {
  readonly folder: string;
  readonly blobs: number;
  readonly bytes: number;
  readonly faults: readonly BackupFault[];
  /** The recommended embedding model that the next start downloads, because a backup contains no model. */
  readonly embeddingModel: string | null;
}

/**
 * Restores a backup into a new data folder, and a PostgreSQL dump into the empty database of the settings. All content is compared
 * with its hash, and the database is checked. Content in object storage stays there.
 * @throws ConfigError, or an Error with the reason; the folder does not exist then
 */
export async function restoreStore(
  environment: Environment,
  { from, to }: { readonly from: string; readonly to: string },
  { damaged, hash, claim, onProgress }: RestoreOptions,
): Promise<Restored> {
  const [backup, target] = [resolve(from), resolve(to)];
  const config = parseConfig(environment);
  const url = config.databaseUrl?.reveal();
  const facts = await readBackupFacts(backup);
  await checkApart(target, { what: 'backup', folder: backup });
  const { blobs, bytes, database } = facts;
  if ((database.kind === 'postgres') !== (url !== undefined)) throw otherDatabase(database.kind);
  // Before the content is read, because that may take hours.
  if (url !== undefined) await (await loadPostgres()).assertEmpty({ url });
  const objects = await openRestoredObjects(config, facts, hash);
  await using resources = new AsyncDisposableStack();
  resources.defer(() => objects?.close());
  const restored = await createFolder(target, lockFolder, async (unfinished) => {
    if (objects === undefined) await mkdir(join(unfinished, 'blobs'), { mode: 0o700 });
    const content = objects ?? { source: openBlobFolder(backup), copy: openBlobFolder(unfinished) };
    const listFile = join(backup, blobListFile);
    const copied = await copyBlobs({ ...content, listFile, onProgress }, { blobs, bytes });
    if (copied.faults.length > 0 && !damaged) {
      throw contentDamaged(copied.faults, { createdAt: facts.made, objects: facts.objects });
    }
    if (objects !== undefined && !claim) throw claimNeeded(objects.place, blobs);
    await copyBundles(join(backup, 'bundles'), join(unfinished, 'bundles'));
    for (const name of [encryptionKeyFile, identityFile]) {
      if (await exists(join(backup, name))) await copyFile(join(backup, name), join(unfinished, name));
    }
    const embeddingModel = await carryModelList(backup, unfinished);
    await restoreDatabase({ backup, unfinished, facts, url, environment });
    await objects?.claim(unfinished);
    return { faults: copied.faults, embeddingModel };
  });
  return { folder: target, blobs, bytes, ...restored };
}

/** Loads the driver only when PostgreSQL is used. */
const loadPostgres = () => import('../../storage/postgres/postgres-snapshot.ts');

interface RestoredDatabase {
  readonly backup: string;
  readonly unfinished: string;
  readonly facts: BackupFacts;
  readonly url: string | undefined;
  readonly environment: Environment;
}

async function restoreDatabase({ backup, unfinished, facts, url, environment }: RestoredDatabase): Promise<void> {
  if (url === undefined) {
    await (await takeSqliteSnapshot(backup, unfinished, 'integrity_check')).close();
    return;
  }
  const { restoreDump } = await loadPostgres();
  await restoreDump({ url, environment }, { backup, place: unfinished, schema: facts.database.schema });
}

import { copyFile, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { encryptionKeyFile } from '../../access/credential-profiles/encryption-key.ts';
import { systemClock } from '../../platform/clock.ts';
import type { DatabaseSnapshot } from '../../platform/database-snapshot.ts';
import { exists } from '../../platform/disk/exists.ts';
import { version } from '../../platform/version.ts';
import { openBlobFolder } from '../../storage/disk/blob-folder.ts';
import { lockFolder } from '../../storage/disk/folder-lock.ts';
import { nameOf } from '../../storage/s3/claim-place.ts';
import { sqliteFile } from '../../storage/sqlite/sqlite-database.ts';
import { takeSqliteSnapshot } from '../../storage/sqlite/sqlite-snapshot.ts';
import { assertFolderId, identityFile } from '../../stores/files/store-identity.ts';
import {
  type BackupFacts,
  type CopyProgress,
  type CopyReport,
  checkApart,
  copyBundles,
  copyStore,
  listBlobs,
  writeBackupFacts,
} from '../backup/backup.ts';
import { blobListFile } from '../backup/blob-list.ts';
import { createFolder } from '../backup/new-folder.ts';
import { contentElsewhere, noEncryptionKey, noStore } from '../backup/problems.ts';
import { carryModelList, modelListPath } from '../settings/chosen-models.ts';
import { type Config, type Environment, parseConfig } from '../settings/config.ts';

export interface Backup extends CopyReport {
  readonly folder: string;
  /** The recommended embedding model of the store. The backup has its checksums, and a restored store downloads it again. */
  readonly embeddingModel: string | null;
}

export interface BackupOptions {
  /** Whether to include the encryption key of the data folder. */
  readonly includeKey: boolean;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/**
 * Copies the whole store into a new folder, also while a service uses it: the database, the content of its files and the installed
 * bundles. Content in object storage stays there, and the copy lists it. With SQLite the copy is a data folder; with PostgreSQL it contains a dump. Source: ADR 0058.
 * @throws ConfigError, or an Error with the reason; the folder does not exist then
 */
export async function backUpStore(environment: Environment, folder: string, options: BackupOptions): Promise<Backup> {
  const config = parseConfig(environment);
  const { dataFolder } = config;
  const usesFolder = config.databaseUrl === null || config.blobs === null;
  if (usesFolder && !(await exists(dataFolder))) throw noStore(dataFolder);
  const key = join(dataFolder, encryptionKeyFile);
  if (options.includeKey && !(await exists(key))) throw noEncryptionKey(key);
  const target = resolve(folder);
  await checkApart(target, { what: 'data folder', folder: dataFolder });
  await checkApart(target, { what: 'folder of installed bundles', folder: config.installedBundles });
  const report = await createFolder(target, lockFolder, async (unfinished) => {
    const { database, objects, ...copied } = await copyInto(unfinished, { config, environment, ...options });
    await copyBundles(config.installedBundles, join(unfinished, 'bundles'));
    if (options.includeKey) await copyFile(key, join(unfinished, encryptionKeyFile));
    const embeddingModel = await carryModelList(dataFolder, unfinished);
    const identity = join(dataFolder, identityFile);
    if (await exists(identity)) await copyFile(identity, join(unfinished, identityFile));
    const facts = { made: new Date(systemClock.now()).toISOString(), version, database, ...objects, ...copied };
    await writeBackupFacts(unfinished, { ...facts, faults: [...copied.faults] }, [
      database.file,
      blobListFile,
      ...(embeddingModel === null ? [] : [modelListPath]),
    ]);
    return { ...copied, ...objects, embeddingModel };
  });
  return { folder: target, ...report };
}

interface CopyOptions {
  readonly config: Config;
  readonly environment: Environment;
  readonly onProgress?: BackupOptions['onProgress'];
}

async function copyInto(
  folder: string,
  { config: { blobs, dataFolder, databaseUrl }, environment, onProgress }: CopyOptions,
): Promise<CopyReport & Pick<BackupFacts, 'database'> & { readonly objects: Pick<BackupFacts, 'objects'> }> {
  let database: BackupFacts['database'] = { kind: 'sqlite', file: sqliteFile, schema: '' };
  const url = databaseUrl?.reveal();
  const copyDatabase = async (): Promise<DatabaseSnapshot> => {
    if (url === undefined) return await takeSqliteSnapshot(dataFolder, folder);
    // Loads the driver only when PostgreSQL is used.
    const { dumpFile, takePostgresSnapshot } = await import('../../storage/postgres/postgres-snapshot.ts');
    const snapshot = await takePostgresSnapshot({ url, environment }, folder, async (folderId) => {
      if (blobs === null) await assertFolderId(dataFolder, folderId);
    });
    database = { kind: 'postgres', file: dumpFile, schema: snapshot.schema };
    return snapshot;
  };
  const place = blobs === null ? null : nameOf(blobs);
  const takeSnapshot = async (): Promise<DatabaseSnapshot> => {
    const snapshot = await copyDatabase();
    if (snapshot.store.blobsPlace === place) return snapshot;
    await snapshot.close();
    throw contentElsewhere(snapshot.store.blobsPlace);
  };
  const listFile = join(folder, blobListFile);
  if (blobs !== null && place !== null) {
    const { keepDeletedDays } = blobs;
    const { store, totals } = await listBlobs(listFile, takeSnapshot);
    return { ...totals, faults: [], database, objects: { objects: { storeId: store.id, place, keepDeletedDays } } };
  }
  await mkdir(join(folder, 'blobs'), { mode: 0o700 });
  const report = await copyStore({
    takeSnapshot,
    source: openBlobFolder(dataFolder),
    copy: openBlobFolder(folder),
    listFile,
    onProgress,
  });
  return { ...report, database, objects: {} };
}

import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { takeSqliteSnapshot } from './adapters/database/sqlite-snapshot.ts';
import { openDiskBlobStore } from './adapters/disk/disk-blob-store.ts';
import { type CopyReport, copyStore } from './backup/backup.ts';
import { copyBundles } from './backup/copy-bundles.ts';
import { makeFolder } from './backup/new-folder.ts';
import { noStore } from './backup/problems.ts';
import type { DatabaseSnapshot } from './backup/snapshot-port.ts';
import { type Config, type Environment, parseConfig } from './config.ts';
import { systemClock } from './kernel/clock.ts';
import { exists } from './kernel/exists.ts';
import { version } from './version.ts';

export interface Backup extends CopyReport {
  readonly folder: string;
}

/**
 * Copies the whole store into a new folder while a service may use it: the database, the bytes of its files, the
 * installed bundles. The folder is a data folder; with PostgreSQL its database is a dump instead. Keys to seal with are
 * not in it. Source: ADR 0058.
 * @throws ConfigError, and errors that say why there is no backup; then there is no folder.
 */
export async function backUpStore(environment: Environment, folder: string): Promise<Backup> {
  const target = resolve(folder);
  const report = await makeFolder(target, async (unfinished) => {
    const copied = await copyInto(unfinished, parseConfig(environment), environment);
    const about = { made: new Date(systemClock.now()).toISOString(), version, ...copied };
    await writeFile(join(unfinished, 'backup.json'), `${JSON.stringify(about, null, 2)}\n`, { mode: 0o600 });
    return copied;
  });
  return { folder: target, ...report };
}

async function copyInto(
  folder: string,
  { dataFolder, databaseUrl, installedBundles }: Config,
  environment: Environment,
): Promise<CopyReport> {
  if (!(await exists(dataFolder))) throw noStore(dataFolder);
  const url = databaseUrl?.reveal();
  const takeSnapshot = async (): Promise<DatabaseSnapshot> => {
    if (url === undefined) return await takeSqliteSnapshot(dataFolder, folder);
    // Its driver is loaded by those who use it.
    const { takePostgresSnapshot } = await import('./adapters/database/postgres-snapshot.ts');
    return await takePostgresSnapshot({ url, environment }, folder);
  };
  const source = await openDiskBlobStore(dataFolder);
  const copy = await openDiskBlobStore(folder);
  try {
    const report = await copyStore({ takeSnapshot, source, copy });
    await copyBundles(installedBundles, join(folder, 'bundles'));
    return report;
  } finally {
    await Promise.all([source.close(), copy.close()]);
  }
}

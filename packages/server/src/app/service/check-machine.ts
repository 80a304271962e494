import { stat } from 'node:fs/promises';
import { createLogger } from '../../platform/log/logger.ts';
import { findIsolation } from '../../platform/processes/isolation/find-isolation.ts';
import { assertKnownStore, migrationsFor } from '../../storage/database/migrations.ts';
import { freeBytes } from '../../storage/disk/disk-space.ts';
import { findMigrations } from '../../storage/open-database.ts';
import { checkObjectStorage } from '../../storage/s3/check-object-storage.ts';
import { type Config, type Environment, parseConfig } from '../settings/config.ts';
import { openDataFolder } from './wire-blobs.ts';

/** One thing that a service on this machine needs. */
export interface MachineCheck {
  readonly name: 'settings' | 'data folder' | 'disk space' | 'database' | 'object storage' | 'sandbox';
  readonly state: 'ok' | 'warning' | 'failed';
  /** Describes the result. For a warning or a failure, it also names the remedy. */
  readonly message: string;
}

/** Checks the settings, the data folder, its disk, PostgreSQL, the object storage and the sandbox. It creates no store and changes none. */
export async function* checkMachine(environment: Environment): AsyncGenerator<MachineCheck> {
  let config: Config | undefined;
  try {
    config = parseConfig(environment);
    yield { name: 'settings', state: 'ok', message: 'all settings are valid' };
  } catch (error) {
    yield { name: 'settings', state: 'failed', message: messageOf(error).replaceAll('\n  - ', ' ') };
  }
  if (config !== undefined) yield* checkData(config);
  if (config?.databaseUrl != null) yield await checkPostgres(config.databaseUrl.reveal());
  if (config !== undefined && config.blobs !== null) yield* checkObjectStorage(config.blobs);
  yield await checkSandbox();
}

async function* checkData({ dataFolder, minFreeDiskMb }: Config): AsyncGenerator<MachineCheck> {
  const name = 'data folder';
  const found = await stat(dataFolder).catch((error: NodeJS.ErrnoException) => error.code);
  if (found === 'ENOENT') {
    yield { name, state: 'ok', message: `${dataFolder} does not exist yet; the first start creates it` };
    return;
  }
  try {
    await openDataFolder(dataFolder, createLogger('error'));
    yield { name, state: 'ok', message: `${dataFolder} can be used` };
  } catch (error) {
    yield { name, state: 'failed', message: messageOf(error) };
    return;
  }
  const free = Math.floor((await freeBytes(dataFolder)) / 2 ** 20);
  yield free < minFreeDiskMb
    ? {
        name: 'disk space',
        state: 'failed',
        message: `${free} MiB are free, and uploads need more than ${minFreeDiskMb} MiB (QUARTERMASTER_MIN_FREE_DISK_MB). Free some space.`,
      }
    : { name: 'disk space', state: 'ok', message: `${free} MiB are free` };
}

/** Connects, and compares the tables with those of this version. */
async function checkPostgres(url: string): Promise<MachineCheck> {
  const name = 'database';
  try {
    const found = await findMigrations({ url, dataFolder: '' });
    const known = Object.keys(migrationsFor('postgres'));
    assertKnownStore(found ?? [], known);
    const missing = known.length - (found?.length ?? known.length);
    const what =
      found === undefined
        ? 'it holds no store yet; the first start creates one'
        : missing === 0
          ? 'its store has the tables of this version'
          : `its store is older; the next start applies ${missing} migrations`;
    return { name, state: 'ok', message: `PostgreSQL answers, and ${what}` };
  } catch (error) {
    return { name, state: 'failed', message: `PostgreSQL (QUARTERMASTER_DATABASE_URL): ${messageOf(error)}` };
  }
}

async function checkSandbox(): Promise<MachineCheck> {
  const { sandbox } = await findIsolation();
  if (sandbox.settings !== undefined) return { name: 'sandbox', state: 'ok', message: 'bubblewrap works' };
  return {
    name: 'sandbox',
    state: 'warning',
    message: `${sandbox.missing}${sandbox.detail === '' ? '' : ` (${sandbox.detail})`}. Bundles with handlers of others are refused. Install bubblewrap, and allow user namespaces; docs/reference/isolation.md lists what each machine offers.`,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

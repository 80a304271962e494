import { appendFile, copyFile, cp, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { sql } from 'kysely';
import { encryptionKeyFile } from '../../access/credential-profiles/encryption-key.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { systemClock } from '../../platform/clock.ts';
import { exists } from '../../platform/disk/exists.ts';
import { syncTreeToDisk } from '../../platform/disk/sync-to-disk.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { leaseMs } from '../../platform/nodes/node-repository.ts';
import { type CopiedTable, copyTables } from '../../storage/database/copy-tables.ts';
import type { Database } from '../../storage/database/database.ts';
import { databaseNow } from '../../storage/database/like-pattern.ts';
import { assertCurrentStore, assertKnownStore, endMove, isFilledByMove } from '../../storage/database/migrations.ts';
import { lockFolder } from '../../storage/disk/folder-lock.ts';
import { findMigrations, openDatabase, openForReading } from '../../storage/open-database.ts';
import { nameOf } from '../../storage/s3/claim-place.ts';
import { sqliteFile } from '../../storage/sqlite/sqlite-database.ts';
import { type BackupFault, checkApart, copyBundles } from '../backup/backup.ts';
import {
  assertNotMoved,
  markMoved,
  moveEnded,
  moveFolderUsed,
  moveListFile,
  moveTargetUsed,
  samePlace,
  sourceInUse,
  urlMissing,
} from '../backup/moved-store.ts';
import { noStore } from '../backup/problems.ts';
import { assertContentUnused } from '../service/open-blobs.ts';
import { modelsFolder } from '../settings/chosen-models.ts';
import { type Config, type Environment, parseConfig } from '../settings/config.ts';
import { type ContentOptions, copyContent, type MoveContext, openContent, type Source } from './move-content.ts';

export interface MoveOptions extends ContentOptions {
  /** The new data folder. Default: that of the source with `-moved`. */
  readonly folder?: string | undefined;
  /** The URL of the new database; true takes it from the settings; undefined: SQLite in the new folder. */
  readonly postgres?: string | true | undefined;
  /** The new object storage; true takes it from the settings; undefined: the content is in the new folder. */
  readonly blobs?: string | true | undefined;
  readonly onTable?: (table: string, rows: number) => void;
}

export interface Moved {
  readonly folder: string;
  readonly database: string;
  readonly content: string;
  readonly tables: readonly CopiedTable[];
  readonly blobs: number;
  readonly bytes: number;
  readonly faults: readonly BackupFault[];
}

/**
 * Copies a stopped store to another database, another place for its content, or both, and compares every row and the hash of every blob.
 * After an interruption, the same call continues. The target is usable only when everything is equal; the source stays unchanged and is
 * marked as moved. Source: ADR 0171.
 * @throws ConfigError or OperatorError
 */
export async function moveStore(environment: Environment, options: MoveOptions): Promise<Moved> {
  const { from, to } = readTwoConfigs(environment, options);
  if (from.blobs !== null && to.blobs !== null && nameOf(from.blobs) === nameOf(to.blobs)) {
    throw samePlace(nameOf(to.blobs));
  }
  await checkApart(to.dataFolder, { what: 'data folder', folder: from.dataFolder });
  const [database, contentPlace] = [describeDatabase(to), describeContent(to)];
  const place = `${database}, with the content in ${contentPlace}`;
  // Two stores of one id could share a place. A move that was interrupted behind the mark continues.
  const continued = (await exists(join(to.dataFolder, moveListFile))) ? place : '';
  await assertNotMoved(from.dataFolder, continued);
  await using resources = new AsyncDisposableStack();
  const source = await openSource(from, continued, resources);
  const target = await openTarget(to, source.storeId, resources);
  const context: MoveContext = { from, to, source, target, resources, options };
  const content = await openContent(context);
  const tables = await copyTables({
    source,
    target: { db: target.write, dialect: target.dialect },
    changed: { store: { folder_id: null, ...(await readPlace(target)) } },
    onProgress: options.onTable,
  });
  const copied = await copyContent(context, content);
  await copyFolder(context);
  const moved = { folder: to.dataFolder, database, content: contentPlace, tables, ...copied };
  await markMoved(from.dataFolder, { to: place, at: new Date(systemClock.now()).toISOString() });
  const url = urlOf(from);
  if (url !== null) await (await import('../../storage/postgres/postgres-snapshot.ts')).markMovedStore(url, place);
  await endMove(target.write, source.storeId);
  await rm(join(to.dataFolder, moveListFile));
  return moved;
}

const urlOf = ({ databaseUrl }: Config) => databaseUrl?.reveal() ?? null;

/** Reads the settings of source and target. A setting that the options take for the target is not one of the source. */
function readTwoConfigs(
  environment: Environment,
  { folder, postgres, blobs }: MoveOptions,
): { from: Config; to: Config } {
  const {
    QUARTERMASTER_DATABASE_URL: url,
    QUARTERMASTER_DATABASE_URL_FILE: file,
    QUARTERMASTER_BLOBS: place,
  } = environment;
  if (postgres === true && !url && !file) throw urlMissing('--to-postgres', 'QUARTERMASTER_DATABASE_URL');
  if (blobs === true && !place) throw urlMissing('--to-blobs', 'QUARTERMASTER_BLOBS');
  const from = parseConfig({
    ...environment,
    ...(postgres === true && { QUARTERMASTER_DATABASE_URL: undefined, QUARTERMASTER_DATABASE_URL_FILE: undefined }),
    ...(blobs === true && { QUARTERMASTER_BLOBS: undefined }),
  });
  const to = parseConfig({
    ...environment,
    QUARTERMASTER_DATA: resolve(folder ?? `${from.dataFolder}-moved`),
    ...(postgres !== true && { QUARTERMASTER_DATABASE_URL: postgres, QUARTERMASTER_DATABASE_URL_FILE: undefined }),
    ...(blobs !== true && { QUARTERMASTER_BLOBS: blobs }),
  });
  return { from, to };
}

/**
 * Opens the source, which no process uses and whose tables are those of this version.
 * @param continued the place of a move that was interrupted, otherwise empty
 */
async function openSource(from: Config, continued: string, resources: AsyncDisposableStack): Promise<Source> {
  const place = { url: urlOf(from), dataFolder: from.dataFolder };
  const found = await findMigrations(place);
  if (found === undefined || !(await exists(from.dataFolder))) throw noStore(from.dataFolder);
  assertCurrentStore(found, place.url === null ? 'sqlite' : 'postgres', continued);
  resources.defer(lockFolder(from.dataFolder).release);
  const { dialect, db, close } = await openForReading(place);
  resources.defer(close);
  // With SQLite, the lock of the folder proves that no service runs.
  const isAlive = sql<boolean>`heartbeat_at > ${databaseNow(dialect)} - ${leaseMs}`;
  const nodes = db.selectFrom('node').select(['id', 'host']).where('stopped_at', 'is', null).where(isAlive);
  const node = dialect === 'sqlite' ? undefined : await nodes.executeTakeFirst();
  if (node !== undefined) throw sourceInUse(node.id, node.host);
  const { id: storeId } = await db.selectFrom('store').select('id').executeTakeFirstOrThrow();
  return { dialect, db, storeId };
}

/** No limits: a statement of a move may take long. */
const timeouts = { statement: 0, lock: 0, idleInTransaction: 0 };

/** Creates the folder and the database of the target, or opens those of an interrupted move. */
async function openTarget(to: Config, storeId: string, resources: AsyncDisposableStack): Promise<Database> {
  const { dataFolder } = to;
  const place = { url: urlOf(to), dataFolder };
  const found = (await findMigrations(place)) ?? [];
  const isBegun = await checkTargetFolder(dataFolder);
  if (found.length > 0 && !isFilledByMove(found, storeId)) {
    if (isBegun) await rm(join(dataFolder, moveListFile));
    assertKnownStore(found, found);
    throw isBegun ? moveEnded(dataFolder) : moveTargetUsed();
  }
  // A copy of the source may have been moved to the place. Its store has the same id.
  if (found.length === 0 && !isBegun) await assertContentUnused(to);
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  resources.defer(lockFolder(dataFolder).release);
  const common = { admission: createAdmission(), logger: createLogger('silent') };
  const database = await openDatabase({ ...place, ...common, timeouts, connections: 2, movedStore: storeId });
  resources.defer(database.close);
  await database.write.updateTable('store').set({ id: storeId }).execute();
  await appendFile(join(dataFolder, moveListFile), '');
  return database;
}

/** @returns whether a move has begun to fill the folder @throws OperatorError when the folder has anything else */
async function checkTargetFolder(folder: string): Promise<boolean> {
  const names = (await exists(folder)) ? await readdir(folder) : [];
  const isBegun = names.includes(moveListFile);
  const isNew = names.every((name) => name.startsWith('in-use.lock') || name.startsWith(sqliteFile));
  if (!isBegun && !isNew) throw moveFolderUsed(folder);
  return isBegun;
}

async function readPlace({ write }: Database) {
  return await write.selectFrom('store').select(['blobs_id', 'blobs_place']).executeTakeFirstOrThrow();
}

/** Copies what the data folder holds besides the database and the content. */
async function copyFolder({ from, to }: MoveContext): Promise<void> {
  await rm(to.installedBundles, { recursive: true, force: true });
  await copyBundles(from.installedBundles, to.installedBundles);
  await copyModels(from, to);
  const key = join(from.dataFolder, encryptionKeyFile);
  if (await exists(key)) await copyFile(key, join(to.dataFolder, encryptionKeyFile));
  await syncTreeToDisk(to.dataFolder);
}

/** Copies the recommended models. A store with several nodes has no folder for them, so there the settings name a model. */
async function copyModels(from: Config, to: Config): Promise<void> {
  const [source, target] = [from, to].map(({ dataFolder }) => modelsFolder(dataFolder)) as [string, string];
  await rm(target, { recursive: true, force: true });
  if ((to.databaseUrl !== null && to.blobs !== null) || !(await exists(source))) return;
  // Unfinished downloads begin with a full stop.
  await cp(source, target, { recursive: true, filter: (path) => !basename(path).startsWith('.') });
}

/** Names the database without its user and password. */
function describeDatabase(config: Config): string {
  const url = urlOf(config);
  if (url === null) return `SQLite in ${config.dataFolder}`;
  const { host, pathname, searchParams } = new URL(url);
  return `PostgreSQL ${searchParams.get('host') ?? host}${pathname}`;
}

function describeContent({ blobs, dataFolder }: Config): string {
  return blobs === null ? dataFolder : nameOf(blobs);
}

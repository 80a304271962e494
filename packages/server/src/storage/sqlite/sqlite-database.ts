import { open } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { systemClock } from '../../platform/clock.ts';
import type { RunningTask } from '../../platform/concurrency/periodic-task.ts';
import { exists } from '../../platform/disk/exists.ts';
import { syncToDisk } from '../../platform/disk/sync-to-disk.ts';
import { createCommitCheck } from '../database/commit-check.ts';
import type { Database, DatabaseSettings } from '../database/database.ts';
import { assertReadableStore, migrate, migrationTable } from '../database/migrations.ts';
import { databaseFileDamaged, noSqliteStore } from '../database/problems.ts';
import { insertInto, runMany } from '../database/sqlite-insert-many.ts';
import type { Tables } from '../database/tables.ts';
import { createIndexMerger } from '../search-index/index-merger.ts';
import { createIndexRenewal } from '../search-index/index-renewal.ts';
import { createMergeMetrics } from '../search-index/merge-metrics.ts';
import { createSqliteSearchIndex } from '../search-index/sqlite-search-index.ts';
import { startReclaiming } from './reclaim-space.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { createSqliteMergeThread } from './sqlite-merge-thread.ts';
import { openSqliteThread, SqliteError, type SqliteThread } from './sqlite-thread.ts';
import { measureWrites } from './sqlite-write-times.ts';

/** A second reader is opened on demand, so that a long search does not delay the reads of keys and files. */
const moreReaders = 1;

/** Milliseconds that the check of a store waits for a lock of another process. */
const busyTimeout = 10_000;

/** The name of the database file in the data folder. */
export const sqliteFile = 'quartermaster.db';

/** Opens the file in the data folder with one connection for writes and one or two for reads. */
export async function openSqliteDatabase(settings: DatabaseSettings): Promise<Database> {
  const { dataFolder, clock = systemClock } = settings;
  const file = path.join(dataFolder, sqliteFile);
  if (settings.mustExist === true) await assertSqliteStore(dataFolder);
  await createPrivately(file, dataFolder);
  const opened: Array<Promise<SqliteThread>> = [];
  let isClosing = false;
  const openThread = (readOnly: boolean) => {
    if (isClosing) return Promise.reject(new Error('The database is closed.'));
    const thread = openSqliteThread(file, { readOnly, searchCacheBytes: settings.searchCacheBytes });
    opened.push(thread);
    return thread;
  };
  /** Also waits for a thread that is being opened. */
  async function closeThreads(): Promise<void> {
    isClosing = true;
    const threads = (await Promise.allSettled(opened)).flatMap((each) =>
      each.status === 'fulfilled' ? each.value : [],
    );
    await Promise.all(threads.reverse().map((thread) => thread.close()));
  }
  try {
    const writer = measureWrites(await openThread(false), settings.metrics);
    const write = new Kysely<Tables>({ dialect: createSqliteDialect([writer]) });
    await migrate(write, 'sqlite');
    const more = { most: moreReaders, open: () => openThread(true) };
    const read = new Kysely<Tables>({ dialect: createSqliteDialect([await openThread(true)], more) });
    const checkCommit = createCommitCheck(write);
    const { logger, metrics } = settings;
    const searchIndex = createSqliteSearchIndex({ onChanged: (collectionId) => merger.changed(collectionId) });
    const merger = createIndexMerger({
      write,
      openThread: async () => createSqliteMergeThread(await openSqliteThread(file, { readOnly: true })),
      insertPages: (db, pages) => runMany(db, insertInto('index_page', ['id', 'data']), pages),
      metrics: createMergeMetrics(metrics),
      rebuildSome: createIndexRenewal({ dialect: 'sqlite', write, searchIndex, logger }, metrics),
      logger,
      // A question is one transaction, so that it needs no replaced segment.
      times: { clock, keptMs: 0 },
    });
    let reclaiming: RunningTask | undefined;
    return {
      dialect: 'sqlite',
      read,
      write,
      searchIndex,
      startMaintenance(hasFreeSpace) {
        merger.start(hasFreeSpace);
        reclaiming ??= startReclaiming({ write, logger, metrics });
      },
      untilMerged: merger.untilMerged,
      leases: write,
      clock,
      assertAvailable() {},
      async check() {
        await Promise.all([checkCommit(), sql`select 1`.execute(read)]);
      },
      async close() {
        await Promise.all([merger.close(), reclaiming?.close()]);
        await closeThreads();
      },
    };
  } catch (error) {
    await closeThreads().catch(() => {});
    const damage = findDamage(error);
    throw damage === undefined ? error : databaseFileDamaged(file, damage.message, error);
  }
}

/**
 * Checks that the data folder has a store, and changes nothing.
 * @throws Error when the database is missing or has no table of a store, or an unreleased version has created it
 */
export async function assertSqliteStore(dataFolder: string): Promise<void> {
  const file = path.join(dataFolder, sqliteFile);
  const migrations = (await exists(file)) ? readMigrations(file) : undefined;
  if (migrations === undefined) throw noSqliteStore(dataFolder, sqliteFile);
  assertReadableStore(migrations);
}

/**
 * Returns the names of the migrations; undefined without the table of a store. Returns none for a file that SQLite cannot
 * read, because the opening of the database reports its damage.
 */
function readMigrations(file: string): string[] | undefined {
  try {
    using database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeout });
    const table = database.prepare('select 1 from sqlite_schema where name = ?').get(migrationTable);
    if (table === undefined) return undefined;
    return database
      .prepare(`select name from ${migrationTable}`)
      .all()
      .map(({ name }) => String(name));
  } catch {
    return [];
  }
}

/** Creates the file with mode 0600 before SQLite opens it, because SQLite gives its log the same mode. */
async function createPrivately(file: string, folder: string): Promise<void> {
  const created = await open(file, 'a', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? noSqliteStore(folder, sqliteFile) : error;
  });
  await created.chmod(0o600);
  await created.close();
  await syncToDisk(folder);
}

/** SQLITE_CORRUPT and SQLITE_NOTADB with all their extended codes. */
const damageCodes = /^SQLITE_(CORRUPT|NOTADB)/;

/** Finds the SQLite error about a damaged file in the chain of causes. */
function findDamage(error: unknown): SqliteError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof SqliteError && damageCodes.test(cause.code)) return cause;
  }
  return undefined;
}

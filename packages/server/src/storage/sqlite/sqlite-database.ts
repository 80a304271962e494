import { open } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { systemClock } from '../../platform/clock.ts';
import { type PeriodicTask, type RunningTask, startPeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import { exists } from '../../platform/disk/exists.ts';
import { syncToDisk } from '../../platform/disk/sync-to-disk.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { Counter, Histogram, type Registry } from '../../platform/metrics.ts';
import { checkCreation } from '../database/check-creation.ts';
import { createCommitCheck } from '../database/commit-check.ts';
import type { Database, DatabaseSettings } from '../database/database.ts';
import { assertReadableStore, migrate, migrationsFor, migrationTable } from '../database/migrations.ts';
import { databaseFileDamaged, noSqliteStore } from '../database/problems.ts';
import { insertInto, runMany } from '../database/sqlite-insert-many.ts';
import type { Tables } from '../database/tables.ts';
import { createIndexMerger, type MergeThread } from '../search-index/index-merger.ts';
import { createIndexRenewal } from '../search-index/index-renewal.ts';
import { createMergeMetrics } from '../search-index/merge-metrics.ts';
import { askIndex } from '../search-index/search-thread.ts';
import { createSqliteSearchIndex } from '../search-index/sqlite-search-index.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { openSqliteThread, SqliteError, type SqliteThread } from './sqlite-thread.ts';

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
  await checkCreation(settings, () => exists(file));
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
    await migrate(write, 'sqlite', migrationsFor('sqlite', settings.movedStore));
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
      isAlone: true,
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
export function readMigrations(file: string): string[] | undefined {
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

/** Opens a stopped store for reading. No statement can change it. */
export async function openSqliteReader(dataFolder: string): Promise<Kysely<Tables>> {
  const thread = await openSqliteThread(path.join(dataFolder, sqliteFile), { readOnly: true });
  return new Kysely<Tables>({ dialect: createSqliteDialect([thread]) });
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

/** Merges in the thread of a read connection of its own. */
export function createSqliteMergeThread(thread: SqliteThread): MergeThread {
  const db = new Kysely<Tables>({ dialect: createSqliteDialect([thread]) });
  return {
    start: async (parts) => void (await askIndex(db, 'startMerge', parts)),
    next: (pages) => askIndex(db, 'continueMerge', pages),
    close: () => thread.close(),
  };
}

/** Seconds up to which transactions are counted together. */
const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/**
 * Measures how long each transaction of the writing connection takes, from its first statement to its commit or rollback.
 * All other writers wait for that long. The connection runs one transaction at a time.
 */
function measureWrites(thread: SqliteThread, registry: Registry | undefined): SqliteThread {
  if (registry === undefined) return thread;
  const seconds = new Histogram({
    name: 'quartermaster_database_write_seconds',
    help: 'Seconds from the first statement of a write transaction to its end. Other writers wait for that long. SQLite only.',
    buckets: bounds,
    registers: [registry],
  });
  let began = 0;
  return {
    ...thread,
    async send(request) {
      const place = typeof request === 'string' ? request : request.place;
      if (place === 'first' || place === 'alone') began = performance.now();
      try {
        return await thread.send(request);
      } finally {
        if (place === 'alone' || place === 'commit' || place === 'rollback') {
          seconds.observe((performance.now() - began) / 1000);
        }
      }
    },
  };
}

interface SpaceReclaimer {
  readonly write: Kysely<Tables>;
  readonly logger: Logger;
  readonly metrics: Registry | undefined;
}

/** The number of pages that one statement reclaims. It moves at most the same number of pages, which takes a few milliseconds. */
const pagesAtOnce = 256;
const pauses = {
  /** Milliseconds for other writers between two statements. */
  betweenSteps: 50,
  /** Milliseconds between two runs. */
  betweenRuns: 10_000,
};

/**
 * Returns pages that deletions left free to the file system, in small steps. Only pages that were also free at the previous run
 * count, because the next write uses the others. The checkpoint after a step makes the file smaller.
 */
export function createReclaimTask(
  { write, logger, metrics }: SpaceReclaimer,
  { betweenSteps, betweenRuns } = pauses,
): PeriodicTask {
  const reclaimed = createCounter(metrics);
  let freeBefore = 0;
  return {
    name: 'free pages',
    pause: betweenRuns,
    async run(signal) {
      const { free, pageSize } = await readPages(write);
      let due = Math.min(free, freeBefore);
      freeBefore = free - due;
      const bytes = due * pageSize;
      while (due > 0 && !signal.aborted) {
        const pages = Math.min(due, pagesAtOnce);
        await sql.raw(`pragma incremental_vacuum(${pages})`).execute(write);
        reclaimed?.inc(pages * pageSize);
        due -= pages;
        await wait(betweenSteps, undefined, { signal }).catch(() => {});
      }
      freeBefore += due;
      if (bytes > 0) logger.debug({ bytes: bytes - due * pageSize }, 'free database pages reclaimed');
    },
  };
}

function startReclaiming(reclaimer: SpaceReclaimer): RunningTask {
  return startPeriodicTask(createReclaimTask(reclaimer), (error) =>
    reclaimer.logger.warn({ err: error }, 'free database pages not reclaimed'),
  );
}

async function readPages(db: Kysely<Tables>) {
  const { rows } = await sql<{ free: number; page_size: number }>`
    select f.freelist_count as free, p.page_size from pragma_freelist_count f, pragma_page_size p`.execute(db);
  const { free = 0, page_size: pageSize = 0 } = rows[0] ?? {};
  return { free, pageSize };
}

function createCounter(registry: Registry | undefined): Counter | undefined {
  if (registry === undefined) return undefined;
  return new Counter({
    name: 'quartermaster_database_reclaimed_bytes_total',
    help: 'Bytes of deleted rows that the database file has given back to the file system. SQLite only.',
    registers: [registry],
  });
}

import { open } from 'node:fs/promises';
import path from 'node:path';
import { Kysely, sql } from 'kysely';
import { systemClock } from '../../kernel/clock.ts';
import { syncToDisk } from '../../kernel/disk/sync-to-disk.ts';
import { createCommitCheck } from '../database/commit-check.ts';
import type { Database, DatabaseSettings } from '../database/database.ts';
import { migrate } from '../database/migrations.ts';
import { databaseFileDamaged, noDataFolder } from '../database/problems.ts';
import type { Tables } from '../database/tables.ts';
import { createSqliteFullText } from '../full-text/sqlite-full-text.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { openSqliteThread, SqliteError, type SqliteThread } from './sqlite-thread.ts';

/** A second reader is opened on demand, so that a long search does not delay the reads of keys and files. */
const moreReaders = 1;

/** The name of the database file in the data folder. */
export const sqliteFile = 'quartermaster.db';

/** Opens the file in the data folder with one connection for writes and one or two for reads. */
export async function openSqliteDatabase({ dataFolder, clock = systemClock }: DatabaseSettings): Promise<Database> {
  const file = path.join(dataFolder, sqliteFile);
  await createPrivately(file, dataFolder);
  const opened: SqliteThread[] = [];
  const openThread = async (readOnly: boolean) => {
    const thread = await openSqliteThread(file, { readOnly });
    opened.push(thread);
    return thread;
  };
  try {
    const write = new Kysely<Tables>({ dialect: createSqliteDialect([await openThread(false)]) });
    await migrate(write, 'sqlite');
    const more = { most: moreReaders, open: () => openThread(true) };
    const read = new Kysely<Tables>({ dialect: createSqliteDialect([await openThread(true)], more) });
    const checkCommit = createCommitCheck(write);
    return {
      dialect: 'sqlite',
      read,
      write,
      fullText: createSqliteFullText(),
      leases: write,
      clock,
      assertAvailable() {},
      async check() {
        await Promise.all([checkCommit(), sql`select 1`.execute(read)]);
      },
      async close() {
        await Promise.all([...opened].reverse().map((thread) => thread.close()));
      },
    };
  } catch (error) {
    await Promise.allSettled(opened.map((thread) => thread.close()));
    const damage = findDamage(error);
    throw damage === undefined ? error : databaseFileDamaged(file, damage.message, error);
  }
}

/** Creates the file with mode 0600 before SQLite opens it, because SQLite gives its log the same mode. */
async function createPrivately(file: string, folder: string): Promise<void> {
  const created = await open(file, 'a', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? noDataFolder(folder) : error;
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

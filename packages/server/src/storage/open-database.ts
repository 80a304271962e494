import { join } from 'node:path';
import { sql } from 'kysely';
import { exists } from '../platform/disk/exists.ts';
import type { RowDatabase } from './database/copy-tables.ts';
import type { Database, DatabaseSettings } from './database/database.ts';
import { openSqliteDatabase, openSqliteReader, readMigrations, sqliteFile } from './sqlite/sqlite-database.ts';

/**
 * Opens the database and migrates its tables.
 * @throws when the database could lose an acknowledged write, or does not exist and `mustExist` is set.
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  if (settings.url === null) return await openSqliteDatabase(settings);
  // The import is dynamic, so that only services on PostgreSQL load its driver.
  const { openPostgresDatabase } = await import('./postgres/postgres-database.ts');
  return await openPostgresDatabase(settings.url, settings);
}

type DatabasePlace = Pick<DatabaseSettings, 'url' | 'dataFolder'>;

/** Returns the names of the migrations of a database; undefined when it holds no store. Changes nothing. */
export async function findMigrations({ url, dataFolder }: DatabasePlace): Promise<readonly string[] | undefined> {
  if (url !== null) return await (await import('./postgres/postgres-snapshot.ts')).readMigrations(url);
  const file = join(dataFolder, sqliteFile);
  return (await exists(file)) ? readMigrations(file) : undefined;
}

/** Opens a store for reading, in one transaction that sees no later change and can make none. Nothing is migrated. */
export async function openForReading(place: DatabasePlace): Promise<RowDatabase & { close(): Promise<void> }> {
  const { url, dataFolder } = place;
  const db =
    url === null
      ? await openSqliteReader(dataFolder)
      : (await import('./postgres/postgres-snapshot.ts')).openPostgresReader(url);
  try {
    const begin = db.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only');
    const transaction = await begin.execute();
    if (url !== null) {
      const none = ['statement_timeout', 'idle_in_transaction_session_timeout'].map((name) => `set local ${name} = 0`);
      await sql.raw(none.join('; ')).execute(transaction);
    }
    const dialect = url === null ? 'sqlite' : 'postgres';
    return {
      dialect,
      db: transaction,
      async close() {
        await transaction.rollback().execute();
        await db.destroy();
      },
    };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

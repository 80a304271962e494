import type { Database, DatabaseSettings } from './database/database.ts';
import { openSqliteDatabase } from './sqlite/sqlite-database.ts';

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

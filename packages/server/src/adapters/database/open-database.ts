import { openSqliteDatabase } from '../sqlite/sqlite-database.ts';
import type { Database, DatabaseSettings } from './database.ts';

/** Opens the database and brings its tables up to date. @throws when it cannot be trusted with an acknowledged write. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  if (settings.url === null) return await openSqliteDatabase(settings);
  // Its driver is loaded by those who use it.
  const { openPostgresDatabase } = await import('../postgres/postgres-database.ts');
  return await openPostgresDatabase(settings.url, settings);
}

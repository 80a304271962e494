import type { Logger } from '../../kernel/logger.ts';
import type { Database } from './database.ts';
import { openPostgresDatabase } from './postgres-database.ts';
import { openSqliteDatabase } from './sqlite-database.ts';

export interface DatabaseSettings {
  /** A PostgreSQL URL; null for the SQLite file in the data folder. */
  readonly url: string | null;
  readonly dataFolder: string;
  readonly logger: Logger;
}

/** Opens the database and brings its tables up to date. @throws when it cannot be trusted with an acknowledged write. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  return settings.url === null ? openSqliteDatabase(settings) : openPostgresDatabase(settings.url, settings);
}

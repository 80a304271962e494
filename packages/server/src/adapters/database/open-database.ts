import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import type { Registry } from '../../kernel/metrics.ts';
import type { Durability, SessionTimeouts } from '../postgres/postgres-session.ts';
import { openSqliteDatabase } from '../sqlite/sqlite-database.ts';
import type { Database } from './database.ts';

export interface DatabaseSettings {
  /** A PostgreSQL URL; null for the SQLite file in the data folder. */
  readonly url: string | null;
  readonly dataFolder: string;
  readonly logger: Logger;
  readonly metrics?: Registry;
  /** The clock of this machine. */
  readonly clock?: Clock;
  /** PostgreSQL: connections of this process. */
  readonly connections?: number;
  /** PostgreSQL: where a commit must be stored before it is acknowledged. */
  readonly durability?: Durability;
  readonly timeouts?: SessionTimeouts;
}

/** Opens the database and brings its tables up to date. @throws when it cannot be trusted with an acknowledged write. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  if (settings.url === null) return await openSqliteDatabase(settings);
  // Its driver is loaded by those who use it.
  const { openPostgresDatabase } = await import('../postgres/postgres-database.ts');
  return await openPostgresDatabase(settings.url, settings);
}

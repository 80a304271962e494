import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../../../../../../test/support/postgres.ts';
import { createLogger } from '../../../kernel/log/logger.ts';
import type { Database } from '../database.ts';
import { openDatabase } from '../open-database.ts';

/** An empty database for tests. */
export interface TemporaryDatabase {
  readonly database: Database;
  /** The data folder. SQLite stores the database there. */
  readonly folder: string;
  /** Closes the database and deletes it with its folder. */
  close(): Promise<void>;
}

/** Opens a SQLite database, or the given database of PostgreSQL. */
export async function openTemporaryDatabase(postgres?: TestDatabase): Promise<TemporaryDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-database-'));
  const logger = createLogger('silent');
  const database = await openDatabase({ url: postgres?.url ?? null, dataFolder: folder, logger });
  return {
    database,
    folder,
    async close() {
      await database.close();
      await postgres?.drop();
      await rm(folder, { recursive: true });
    },
  };
}

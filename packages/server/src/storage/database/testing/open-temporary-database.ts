import { access, copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../../../../../../test/support/postgres.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { openDatabase } from '../../open-database.ts';
import { sqliteFile } from '../../sqlite/sqlite-database.ts';
import type { Database } from '../database.ts';

/** An empty database for tests. */
export interface TemporaryDatabase {
  readonly database: Database;
  /** The data folder. SQLite stores the database there. */
  readonly folder: string;
  /** Closes the database and deletes it with its folder. */
  close(): Promise<void>;
}

const logger = createLogger('silent');

/** Opens a SQLite database, or the given database of PostgreSQL. */
export async function openTemporaryDatabase(postgres?: TestDatabase): Promise<TemporaryDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-database-'));
  if (postgres === undefined) await copyMigrated(folder);
  const database = await openDatabase({
    admission: createAdmission(),
    url: postgres?.url ?? null,
    dataFolder: folder,
    logger,
  });
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

/** Copies a database without rows, which the first test file of a run creates. The migrations take longer than a copy. */
async function copyMigrated(folder: string): Promise<void> {
  const shared = process.env.QUARTERMASTER_TEST_SHARED;
  if (shared === undefined) return;
  const template = join(shared, sqliteFile);
  try {
    await access(template);
  } catch {
    const draft = await mkdtemp(join(shared, 'database-'));
    const database = await openDatabase({ admission: createAdmission(), url: null, dataFolder: draft, logger });
    await database.close();
    await rename(join(draft, sqliteFile), template);
    await rm(draft, { recursive: true });
  }
  await copyFile(template, join(folder, sqliteFile));
}

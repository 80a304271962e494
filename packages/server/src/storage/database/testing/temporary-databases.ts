import { createTestDatabase } from '../../../../../../test/support/postgres.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { openDatabase } from '../../open-database.ts';
import { openTemporaryDatabase } from './open-temporary-database.ts';

/** Opens an empty database of each kind. A test that needs SQLite only imports `openTemporaryDatabase`, so that it needs no server. */
export const temporaryDatabases = {
  SQLite: () => openTemporaryDatabase(),
  PostgreSQL: async () => openTemporaryDatabase(await createTestDatabase(migrateOnce)),
};

export type DatabaseKind = keyof typeof temporaryDatabases;

/** Migrates the tables of an empty database. This takes longer than a copy of the result. */
async function migrateOnce(url: string): Promise<void> {
  const database = await openDatabase({
    admission: createAdmission(),
    url,
    dataFolder: '',
    logger: createLogger('silent'),
  });
  await database.close();
}

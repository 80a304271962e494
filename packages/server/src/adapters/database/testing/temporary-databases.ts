import { createTestDatabase } from '../../../../../../test/support/postgres.ts';
import { openTemporaryDatabase } from './open-temporary-database.ts';

/** Opens an empty database of each kind. A test that needs SQLite only imports `openTemporaryDatabase`, so that it needs no server. */
export const temporaryDatabases = {
  SQLite: () => openTemporaryDatabase(),
  PostgreSQL: async () => openTemporaryDatabase(await createTestDatabase()),
};

export type DatabaseKind = keyof typeof temporaryDatabases;

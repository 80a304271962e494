import assert from 'node:assert/strict';
import pg from 'pg';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../../../../../../test/support/postgres.ts';
import { until } from '../../../platform/testing/until.ts';
import { type ChangingStore, createChangingStore } from '../testing/changing-store.ts';
import { testIndexKills } from '../testing/index-kills.suite.ts';

const databases = new Map<string, TestDatabase>();
const databaseOf = ({ url }: ChangingStore): TestDatabase =>
  databases.get(url ?? '') ?? assert.fail(`there is no database ${url}`);

/** The server ends the statements of a killed process a moment later than the process. */
async function untilLeft({ url }: ChangingStore): Promise<void> {
  const client = new pg.Client({ connectionString: url ?? '' });
  await client.connect();
  await until(async () => (await client.query(others)).rowCount === 0);
  await client.end();
}
const others = `select from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

testIndexKills(
  'a process that is killed in any step of an addition, removal, merge, rebuild, swap or deletion of a collection leaves an exact index in PostgreSQL',
  async () => ({
    dialect: 'postgres',
    async create() {
      const database = await createTestDatabase();
      databases.set(database.url, database);
      return createChangingStore({ folder: '/unused', url: database.url });
    },
    async copy(store) {
      const database = await copyTestDatabase(databaseOf(store));
      databases.set(database.url, database);
      return { ...store, url: database.url };
    },
    untilLeft,
    remove: (store) => databaseOf(store).drop(),
  }),
);

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/postgres.ts';
import { createLogger } from '../../kernel/logger.ts';
import { testDatabase } from './database.suite.ts';
import { openDatabase } from './open-database.ts';

const logger = createLogger('silent');
const openAt = (url: string) => openDatabase({ url, dataFolder: '/unused', logger });

testDatabase('PostgreSQL', async () => {
  const testing = await createTestDatabase();
  const database = await openAt(testing.url);
  return {
    database,
    async close() {
      await database.close();
      await testing.drop();
    },
  };
});

describe('the PostgreSQL database', () => {
  let testing: TestDatabase;
  before(async () => {
    testing = await createTestDatabase();
  });
  after(() => testing.drop());

  async function query(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: testing.url });
    await client.connect();
    await client.query(text);
    await client.end();
  }
  const nameOf = () => new URL(testing.url).pathname.slice(1);

  it('is made once when several open it at the same time', async () => {
    const databases = await Promise.all(Array.from({ length: 3 }, () => openAt(testing.url)));
    for (const database of databases) await database.check();
    await Promise.all(databases.map((database) => database.close()));
  });

  it('is refused when it acknowledges what it may lose', async () => {
    await query(`alter database ${nameOf()} set synchronous_commit = off`);
    await assert.rejects(openAt(testing.url), /synchronous_commit = off/);
    await query(`alter database ${nameOf()} set synchronous_commit = local`);
    await (await openAt(testing.url)).close();
  });

  it('is not opened by a version that is older than it', async () => {
    await (await openAt(testing.url)).close();
    await query(`insert into schema_migration values ('9999-from-the-future', '2030-01-01T00:00:00.000Z')`);
    await assert.rejects(openAt(testing.url), /newer version of Quartermaster \(it has 9999-from-the-future\)/);
    await query(`delete from schema_migration where name = '9999-from-the-future'`);
  });

  it('is gone when its server is', async () => {
    await assert.rejects(openAt('postgres://nobody@127.0.0.1:1/none'));
  });
});

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/postgres.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { testDatabase } from '../database/testing/database.suite.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { openDatabase } from '../open-database.ts';

const logger = createLogger('silent');
const openAt = (url: string) => openDatabase({ admission: createAdmission(), url, dataFolder: '/unused', logger });

testDatabase('PostgreSQL', temporaryDatabases.PostgreSQL);

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

  it('several processes that open a database at the same time create it once', async () => {
    const databases = await Promise.all(Array.from({ length: 3 }, () => openAt(testing.url)));
    for (const database of databases) await database.check();
    await Promise.all(databases.map((database) => database.close()));
  });

  it('a server that may lose acknowledged commits is refused', async () => {
    await query(`alter database ${nameOf()} set synchronous_commit = off`);
    await assert.rejects(openAt(testing.url), /synchronous_commit = off/);
    await query(`alter database ${nameOf()} set synchronous_commit = local`);
    await (await openAt(testing.url)).close();
  });

  it('an older version does not open the database', async () => {
    await (await openAt(testing.url)).close();
    await query(`insert into schema_migration values ('9999-from-the-future', '2030-01-01T00:00:00.000Z')`);
    await assert.rejects(
      openAt(testing.url),
      /newer version of Quartermaster changed the database \(migrations 9999-from-the-future\)/,
    );
    await query(`delete from schema_migration where name = '9999-from-the-future'`);
  });

  it('a connection that breaks in a transaction fails only that transaction', async () => {
    const database = await openAt(testing.url);
    const broken = database.write.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      const pid = rows[0]?.pid;
      await sql`select pg_terminate_backend(${pid})`.execute(database.read);
      const isThere = sql`select from pg_stat_activity where pid = ${pid}`;
      while ((await isThere.execute(database.read)).rows.length > 0);
      await sql`select 1`.execute(transaction);
    });
    await assert.rejects(broken, { code: 'SERVICE_UNAVAILABLE' });
    await database.check();
    await database.close();
  });

  it('TCP keep-alive probes a silent server, so that a server without power is not awaited forever', async () => {
    const database = await openAt(testing.url);
    const ownPort = sql<{
      port: number;
    }>`select client_port as port from pg_stat_activity where pid = pg_backend_pid()`;
    const { rows } = await ownPort.execute(database.read);
    const port = (rows[0]?.port ?? 0).toString(16).toUpperCase().padStart(4, '0');
    // Linux, proc_pid_net(5): local address, remote address, state, queues, and the timer that runs; 02 is keep-alive.
    const timer = new RegExp(`:${port} [0-9A-F:]+ 01 [0-9A-F:]+ ([0-9]{2}):`);
    const readTimer = async () => timer.exec(await readFile('/proc/net/tcp', 'utf8'))?.[1];
    // The last packet may not be acknowledged yet. Another timer runs until then.
    while ((await readTimer()) === '01');
    assert.equal(await readTimer(), '02');
    await database.close();
  });

  it('a text with U+0000 is treated as absent from the store', async () => {
    const database = await openAt(testing.url);
    const found = await database.read.selectFrom('project').select('id').where('name', '=', 'a\0b').execute();
    assert.deepEqual(found, []);
    const { rows } = await sql<{ text: string }>`select ${'a\0b'}::text as text`.execute(database.write);
    assert.deepEqual(rows, [{ text: 'a\ufffdb' }]);
    await database.close();
  });

  it('a repeated read is planned once for each connection, and sent without a name when the name is refused', async () => {
    const database = await openDatabase({
      ...{ admission: createAdmission(), url: testing.url, dataFolder: '/unused', logger, connections: 2 },
    });
    await query('create table repeated (n int); insert into repeated values (1)');
    const select = sql<{ n: number; named: number }>`
      select *, (select count(*) from pg_prepared_statements) as named
      from repeated`;
    const read = async () => (await select.execute(database.read)).rows[0];
    assert.deepEqual([await read(), await read()], Array(2).fill({ n: 1, named: 0 }));
    assert.deepEqual([await read(), await read()], Array(2).fill({ n: 1, named: 1 }));
    await query('alter table repeated add column added int');
    assert.deepEqual([await read(), await read()], Array(2).fill({ n: 1, named: 1, added: null }));
    await database.close();
  });

  it('a pooler that shares connections without refusing the options causes no failure', async () => {
    const database = await openDatabase({
      ...{ admission: createAdmission(), url: testing.url, dataFolder: '/unused', logger, connections: 2 },
    });
    for (let n = 0; n < 6; n++) {
      const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database.read);
      assert.deepEqual(rows, [{ one: 1 }]);
      if (n === 3) await sql`deallocate all`.execute(database.read);
    }
    await database.close();
  });

  it('the database is unavailable when its server has stopped', async () => {
    await assert.rejects(openAt('postgres://nobody@127.0.0.1:1/none'));
  });
});

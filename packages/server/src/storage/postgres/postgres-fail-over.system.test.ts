import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { startPostgres, startStandby, type TestServer } from '../../../../../test/support/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../../../../../test/support/tcp-proxy.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../open-database.ts';

const logger = createLogger('silent');
const write = sql`update schema_migration_lock set is_locked = is_locked`;
const isStandby = sql<{ is: boolean }>`select pg_is_in_recovery() as is`;

describe('a fail-over of PostgreSQL', () => {
  let primary: TestServer;
  let standby: TestServer;
  let proxy: TcpProxy;
  let database: Database;
  before(async () => {
    primary = await startPostgres();
    standby = await startStandby(primary.url);
    proxy = await startTcpProxy(primary.url);
    database = await openDatabase({
      admission: createAdmission(),
      url: proxy.url(primary.url),
      dataFolder: '/unused',
      logger,
    });
  });
  after(async () => {
    await database.close();
    await proxy.close();
    await standby.stop();
    await primary.stop();
  });

  const outcome = (): Promise<string> =>
    write.execute(database.write).then(
      () => 'written',
      (error) => error.code,
    );

  it('the start refuses a standby', async () => {
    const opening = openDatabase({ admission: createAdmission(), url: standby.url, dataFolder: '/unused', logger });
    await assert.rejects(opening, /is a standby .* connect to the primary/);
  });

  it('while the address resolves to a standby, no write is sent to it and every write is refused with 503', async () => {
    // Ten readers keep the pool busy, so that no connection is closed because it is idle.
    let reading = true;
    let readAtStandby = 0;
    const readers = Array.from({ length: 10 }, async () => {
      while (reading) {
        const { rows } = await isStandby.execute(database.read).catch(() => ({ rows: [] }));
        if (rows[0]?.is === true) readAtStandby += 1;
        await pause(5);
      }
    });
    assert.equal(await outcome(), 'written');

    proxy.leadTo(standby.url);
    const outcomes = new Set<string>();
    for (let n = 0; n < 50; n++) {
      outcomes.add(await outcome());
      await pause(5);
    }
    assert.deepEqual([...outcomes], ['SERVICE_UNAVAILABLE']);
    await assert.rejects(database.check(), { code: 'SERVICE_UNAVAILABLE' });

    proxy.leadTo(primary.url);
    const since = performance.now();
    while ((await outcome()) !== 'written') await pause(5);
    console.log(`# first write ${Math.round(performance.now() - since)} ms after the address was right`);
    // No connection to the standby is left.
    for (let n = 0; n < 50; n++) assert.equal(await outcome(), 'written');
    await database.check();
    reading = false;
    await Promise.all(readers);
    assert.equal(readAtStandby, 0);
  });

  it('a primary that becomes read-only without closing connections is used again as soon as it accepts writes', async () => {
    const setReadOnly = async (value: 'on' | 'off') => {
      const client = new pg.Client({ connectionString: primary.url });
      await client.connect();
      await client.query(`alter system set default_transaction_read_only = ${value}`);
      await client.query('select pg_reload_conf()');
      await client.end();
    };
    assert.equal(await outcome(), 'written');
    await setReadOnly('on');
    while ((await outcome()) === 'written') await pause(5);
    assert.equal(await outcome(), 'SERVICE_UNAVAILABLE');
    await setReadOnly('off');
    while ((await outcome()) !== 'written') await pause(5);
    for (let n = 0; n < 20; n++) assert.equal(await outcome(), 'written');
  });

  it('with the durability `standby`, a server without a standby is refused and one with a standby is accepted', async () => {
    const settings = {
      admission: createAdmission(),
      url: primary.url,
      dataFolder: '/unused',
      logger,
      durability: 'standby',
    } as const;
    await assert.rejects(
      openDatabase(settings),
      /QUARTERMASTER_DATABASE_DURABILITY=standby needs synchronous standbys/,
    );
    const client = new pg.Client({ connectionString: primary.url });
    await client.connect();
    await client.query("alter system set synchronous_standby_names = '*'");
    await client.query('select pg_reload_conf()');
    await client.end();
    const replicated = await openDatabase(settings);
    await write.execute(replicated.write);
    await replicated.close();
  });
});

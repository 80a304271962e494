import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/postgres.ts';
import { startTcpProxy } from '../../../../../test/support/tcp-proxy.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import type { Database, DatabaseSettings } from '../database/database.ts';
import { openDatabase } from '../open-database.ts';

const logger = createLogger('silent');
const openAt = (url: string, more: Partial<DatabaseSettings> = {}) =>
  openDatabase({ admission: createAdmission(), url, dataFolder: '/unused', logger, ...more });
const setting = async (database: Pick<Database, 'read'>, name: string) => {
  const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(database.read);
  return rows[0]?.value;
};
const backend = async (db: Database['read']) => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  return rows[0]?.pid ?? 0;
};
/** Fails with this SQLSTATE. */
const failWith = (db: Database['read'], state: string) =>
  sql.raw(`do $$ begin raise exception using errcode = '${state}'; end $$`).execute(db);

describe('a PostgreSQL server that refuses, waits or goes silent', () => {
  let testing: TestDatabase;
  let database: Database;
  before(async () => {
    testing = await createTestDatabase();
    database = await openAt(testing.url);
    await query('create table counter (id int primary key, value int not null)');
    await query('insert into counter values (1, 0), (2, 0)');
  });
  after(async () => {
    await database.close();
    await testing.drop();
  });

  async function query(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: testing.url });
    await client.connect();
    await client.query(text);
    await client.end();
  }
  const nameOf = () => new URL(testing.url).pathname.slice(1);

  const expected: Record<string, { code: string; states: string[] }> = {
    'the server is unavailable for a moment': {
      code: 'SERVICE_UNAVAILABLE',
      states: ['25006', '55P03', '57014', '53200', '58030', '08006', '57P01', '40003', '40001'],
    },
    'its disk is full': { code: 'INSUFFICIENT_STORAGE', states: ['53100'] },
  };
  for (const [what, { code, states }] of Object.entries(expected)) {
    for (const state of states) {
      it(`SQLSTATE ${state} means that ${what}`, async () => {
        await assert.rejects(failWith(database.write, state), { code });
      });
    }
  }

  it('a defect in a statement is reported unchanged', async () => {
    await assert.rejects(failWith(database.write, '22012'), (error) => error instanceof pg.DatabaseError);
  });

  it('a transaction that loses a deadlock is run again', async () => {
    let there = 0;
    const both = Promise.withResolvers<void>();
    const meet = async () => {
      if (++there === 2) both.resolve();
      await both.promise;
    };
    const add = async (first: number, second: number, others: Promise<void>) => {
      let tries = 0;
      await database.write.transaction().execute(async (transaction) => {
        // Otherwise this attempt could lock its row before the other transaction wakes up, which would be a second deadlock.
        if (++tries > 1) await others;
        await sql`update counter set value = value + 1 where id = ${first}`.execute(transaction);
        await meet();
        await sql`update counter set value = value + 1 where id = ${second}`.execute(transaction);
      });
    };
    const [oneEnded, otherEnded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await Promise.all([
      add(1, 2, otherEnded.promise).then(oneEnded.resolve),
      add(2, 1, oneEnded.promise).then(otherEnded.resolve),
    ]);
    assert.equal(there, 3);
    const { rows } = await sql<{ value: number }>`select value from counter order by id`.execute(database.read);
    assert.deepEqual(rows, [{ value: 2 }, { value: 2 }]);
  });

  it('a transaction is retried three times before it fails with a retryable error', async () => {
    let tries = 0;
    const failing = database.write.transaction().execute(async (transaction) => {
      tries += 1;
      await failWith(transaction, '40001');
    });
    await assert.rejects(failing, { code: 'SERVICE_UNAVAILABLE' });
    assert.equal(tries, 4);
  });

  it('a transaction that the server rolls back at COMMIT is retried as a whole', async () => {
    await query(`create table promise (id int primary key);
      create function refuse_once() returns trigger language plpgsql as $$ begin
        if nextval('tries') = 1 then raise exception using errcode = '40001'; end if;
        return null;
      end $$;
      create sequence tries;
      create constraint trigger refuse_once after insert on promise deferrable initially deferred
        for each row execute function refuse_once()`);
    let tries = 0;
    await database.write.transaction().execute(async (transaction) => {
      tries += 1;
      await sql`insert into promise values (1)`.execute(transaction);
    });
    const { rows } = await sql`select id from promise`.execute(database.read);
    assert.deepEqual({ tries, rows }, { tries: 2, rows: [{ id: 1 }] });
  });

  it("the role's defaults for isolation and timeouts have no effect", async () => {
    await query(`alter database ${nameOf()} set default_transaction_isolation = 'serializable'`);
    await query(`alter database ${nameOf()} set statement_timeout = '30ms'`);
    await query(`alter database ${nameOf()} set lock_timeout = '30ms'`);
    await query(`alter database ${nameOf()} set idle_in_transaction_session_timeout = '30ms'`);
    const other = await openAt(testing.url);
    await sql`select pg_sleep(0.1)`.execute(other.write);
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const values = await Promise.all(names.map((name) => setting(other, name)));
    assert.deepEqual(values, ['15s', '10s', '1min']);
    assert.equal(await setting(other, 'transaction_isolation'), 'read committed');
    const inside = await other.write.transaction().execute(async (transaction) => {
      await pause(60);
      return setting({ read: transaction }, 'transaction_isolation');
    });
    assert.equal(inside, 'read committed');
    await other.close();
    for (const name of ['default_transaction_isolation', ...names]) {
      await query(`alter database ${nameOf()} reset ${name}`);
    }
  });

  it('a connection that has met a read-only server is not reused', async () => {
    const pid = await backend(database.leases);
    await assert.rejects(failWith(database.leases, '25006'), { code: 'SERVICE_UNAVAILABLE' });
    assert.notEqual(await backend(database.leases), pid);
  });

  it('when the server refuses a further connection, requests wait for an existing one', async () => {
    await query(`drop role if exists limited_${nameOf()}`);
    await query(`create role limited_${nameOf()} login superuser`);
    await query(`alter database ${nameOf()} connection limit -1`);
    const url = new URL(testing.url);
    url.username = `limited_${nameOf()}`;
    const metrics = createMetrics();
    const limited = await openAt(url.href, { metrics });
    await query(`alter role limited_${nameOf()} nosuperuser connection limit 3`);
    await query(`grant all on all tables in schema public to limited_${nameOf()}`);
    const answers = await Promise.allSettled(Array.from({ length: 40 }, () => setting(limited, 'server_encoding')));
    const refusals = answers.filter(({ status }) => status === 'rejected');
    assert.deepEqual(refusals, []);
    const refused = await metrics.getSingleMetric('quartermaster_database_connections_refused')?.get();
    assert.ok((refused?.values[0]?.value ?? 0) > 0);
    await limited.close();
    await query(`drop owned by limited_${nameOf()}`);
    await query(`drop role limited_${nameOf()}`);
  });

  it('requests to a server that does not answer are refused immediately until it answers again', async () => {
    const proxy = await startTcpProxy(testing.url);
    const other = await openAt(proxy.url(testing.url), {
      timeouts: { statement: 3_000, lock: 1_000, idleInTransaction: 60_000 },
    });
    await other.check();
    proxy.silence();
    await assert.rejects(sql`select 1`.execute(other.write), { code: 'SERVICE_UNAVAILABLE' });
    await assert.rejects(other.check(), { code: 'SERVICE_UNAVAILABLE' });
    // The refusal is immediate, because nothing is sent.
    const before = proxy.accepted();
    const refused = Array.from({ length: 100 }, () => sql`select 1`.execute(other.write));
    const outcomes = await Promise.allSettled(refused);
    assert.ok(outcomes.every((each) => each.status === 'rejected' && each.reason.code === 'SERVICE_UNAVAILABLE'));
    assert.ok(proxy.accepted() - before <= 1, 'only the probe may have connected');
    proxy.resume();
    await untilItWorks(other);
    await other.check();
    await other.close();
    await proxy.close();
  });

  it('the pool has the configured number of connections, and one more for leases that never waits', async () => {
    const small = await openAt(testing.url, { connections: 3 });
    const release = Promise.withResolvers<void>();
    const holding = Array.from({ length: 2 }, () => small.write.connection().execute(() => release.promise));
    // Both connections are in use. A third request waits, but the lease does not.
    const waiting = backend(small.write);
    assert.ok((await backend(small.leases)) > 0);
    release.resolve();
    await Promise.all([...holding, waiting]);
    await small.close();
  });

  it("the server's clock is used, and its difference to the machine's clock is logged and reported", async () => {
    const metrics = createMetrics();
    const lines: string[] = [];
    const ahead = await openAt(testing.url, {
      metrics,
      clock: { now: () => Date.now() + 30_000 },
      logger: createLogger('warn', { write: (line: string) => void lines.push(line) }),
    });
    assert.ok(Math.abs(ahead.clock.now() - Date.now()) < 15_000);
    const skew = await metrics.getSingleMetric('quartermaster_database_clock_skew_seconds')?.get();
    assert.equal(Math.round((skew?.values[0]?.value ?? 0) / 10), 3);
    assert.match(lines.join(''), /clock differs from the database/);
    await ahead.close();
  });

  it('a database whose encoding cannot store every text is refused', async () => {
    await query(`create database latin_${nameOf()} encoding 'LATIN1' locale 'C' template template0`);
    const url = new URL(testing.url);
    url.pathname = `latin_${nameOf()}`;
    await assert.rejects(openAt(url.href), /encoding LATIN1/);
    await query(`drop database latin_${nameOf()} with (force)`);
  });

  it('after the search path of the role has changed, requests get 503 with the reason in the log until it is reset', async () => {
    const lines: string[] = [];
    const logged = createLogger('warn', { write: (line: string) => void lines.push(line) });
    const own = await openAt(testing.url, { logger: logged });
    await query(`alter role current_user in database ${nameOf()} set search_path = 'pg_catalog'`);
    const others = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${nameOf()}' and pid <> pg_backend_pid()`;
    await query(others);
    for (let i = 0; i < 30; i++) {
      await assert.rejects(own.write.selectFrom('project').selectAll().execute(), { code: 'SERVICE_UNAVAILABLE' });
    }
    assert.match(lines.join(''), /The search_path of the database role has changed: it led to the schema public/);
    await query(`alter role current_user in database ${nameOf()} reset search_path`);
    await untilItWorks(own);
    assert.deepEqual(await own.write.selectFrom('project').selectAll().execute(), []);
    await own.close();
  });

  it('a server without a synchronous standby is refused when the setting requires one', async () => {
    await assert.rejects(openAt(testing.url, { durability: 'standby' }), /synchronous_standby_names/);
  });
});

/** Resolves when a write succeeds. */
async function untilItWorks(database: Database): Promise<void> {
  const write = sql`update schema_migration_lock set is_locked = is_locked`;
  while (
    !(await write.execute(database.write).then(
      () => true,
      () => false,
    ))
  ) {
    await pause(10);
  }
}

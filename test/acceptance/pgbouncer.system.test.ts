import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { createAdmission } from '../../packages/server/src/platform/admission/admission.ts';
import { createLogger } from '../../packages/server/src/platform/log/logger.ts';
import { openPostgresDatabase } from '../../packages/server/src/storage/postgres/postgres-database.ts';
import { tryDump } from '../../packages/server/src/storage/postgres/postgres-snapshot.ts';
import { endedRun, settledRecord } from '../support/client.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, temporaryFolder } from '../support/service.ts';

type Mode = Parameters<typeof startPgBouncer>[1];

async function openPooled(t: TestContext, mode: Mode, settings?: readonly string[]) {
  const database = await createTestDatabase();
  const pooler = await startPgBouncer(database.url, mode, settings);
  t.after(async () => {
    await pooler.stop();
    await database.drop();
  });
  return { database, pooler };
}

/** Tests uploads, records, search, runs, deletion and a restart. */
async function exercise(t: TestContext, url: string): Promise<void> {
  const service = await startService(t, { settings: { DATABASE_URL: url } });
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'tea' });
  const texts = Array.from({ length: 24 }, (_, n) => `Tea number ${n} is steeped at seventy degrees.`);
  await Promise.all(
    texts.map(async (content, n) => {
      const name = `tea-${n}.txt`;
      const file = await client.files.upload(new Blob([content]), { purpose: 'record_file', name });
      const { record_id } = await client.records.create(collection, { type: 'file', file_id: file.file_id });
      assert.equal((await settledRecord(client, collection, record_id)).status, 'ready');
    }),
  );
  const [best] = await client.search(collection, { query_text: 'Tea number 7', top_k: 1 });
  assert.match(best?.content ?? '', /number 7 is/);
  const start = () => client.plugins.start('calculator/evaluate', { expression: '6 * 7' });
  const runs = await Promise.all(Array.from({ length: 8 }, start));
  for (const { run_id } of runs) {
    const ended = await endedRun(client, run_id);
    assert.equal(ended.outcome, 'succeeded', JSON.stringify(ended.error));
  }
  await client.collections.delete(collection);
  assert.equal((await fetch(`${service.filesUrl}/v1/ready`)).status, 200);
  assert.doesNotMatch(service.log(), /"msg":"request failed"|"level":"(?:error|fatal)"/);
  assert.equal(await service.stop(), 0);

  const again = await startService(t, { folder: service.folder, settings: { DATABASE_URL: url } });
  assert.equal((await again.client.files.list()).data.length, 20);
  assert.equal(await again.stop(), 0);
}

for (const mode of ['transaction', 'session'] as const) {
  test(`[postgres] the service works through PgBouncer in ${mode} mode and sets nothing for other clients`, async (t) => {
    const { database, pooler } = await openPooled(t, mode);
    await exercise(t, pooler.url);
    const other = new pg.Client({ connectionString: pooler.url });
    await other.connect();
    const { rows } = await other.query("select current_setting('statement_timeout') as timeout");
    await other.end();
    assert.deepEqual(rows, [{ timeout: '0' }]);
    assert.notEqual(database.url, pooler.url);
  });
}

test('[postgres] pg_dump never runs in a session that a pooler shares, because it would hide the tables from other clients', async (t) => {
  const { pooler } = await openPooled(t, 'transaction');
  const { pooler: ofSessions } = await openPooled(t, 'session');
  const folder = await temporaryFolder(t);
  const logger = createLogger('silent');
  const dump = (url: string) => tryDump({ url, environment: process.env }, folder, t.signal);
  for (const { url } of [pooler, ofSessions]) {
    const opened = await openPostgresDatabase(url, { admission: createAdmission(), url, dataFolder: '', logger });
    await opened.close();
  }
  await assert.rejects(dump(pooler.url), /shares sessions between clients \(pool_mode = transaction\)/);
  await dump(ofSessions.url);
  for (const { url } of [pooler, ofSessions]) {
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const { rows } = await other.query("select current_setting('search_path') as path");
    await other.end();
    assert.deepEqual(rows, [{ path: '"$user", public' }]);
  }
});

test('[postgres] behind a pooler every transaction has its own isolation level and timeouts, whatever the defaults of the role', async (t) => {
  for (const settings of [[], ['ignore_startup_parameters = options']]) {
    const { database, pooler } = await openPooled(t, 'transaction', settings);
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    const name = new URL(database.url).pathname.slice(1);
    await admin.query(`alter database ${name} set default_transaction_isolation = 'repeatable read'`);
    await admin.end();
    const logger = createLogger('silent');
    const opened = await openPostgresDatabase(pooler.url, {
      admission: createAdmission(),
      url: pooler.url,
      dataFolder: '',
      logger,
    });
    const query = sql<Record<string, string>>`select current_setting('transaction_isolation') as isolation,
      current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`;
    const { rows } = await opened.write.transaction().execute((transaction) => query.execute(transaction));
    await opened.close();
    assert.deepEqual(rows, [{ isolation: 'read committed', statement: '15s', lock: '10s' }]);
  }
});

test('[postgres] PgBouncer in statement mode is refused at the start', async (t) => {
  const { pooler } = await openPooled(t, 'statement');
  await assert.rejects(startService(t, { settings: { DATABASE_URL: pooler.url } }), /pool_mode/);
});

test('[postgres] a start names the options in the URL that a pooler refuses', async (t) => {
  const { pooler } = await openPooled(t, 'session');
  const settings = { DATABASE_URL: `${pooler.url}?options=-c%20search_path%3Dqm` };
  await assert.rejects(startService(t, { settings }), /pooler refuses the `options` of the database URL/);
});

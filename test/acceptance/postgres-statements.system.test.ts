import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { csv } from '../../bench/sheets.ts';
import { settledRecord } from '../support/client.ts';
import { startPostgres } from '../support/postgres.ts';
import { startService } from '../support/service.ts';

/** What a small record may cost: from the request that creates it until its chunks are visible and nothing is left to do. */
const most = { statements: 25, transactions: 8 };
const records = 30;
/** Milliseconds for which an idle service is counted, and after which all transactions of a session are. */
const idleMs = 5_000;
const settleMs = 1_500;

interface Counts {
  readonly at: number;
  readonly transactions: number;
  /** The number of calls by statement, including `begin`, `commit` and the checks of foreign keys. */
  readonly statements: ReadonlyMap<string, number>;
}

async function connect(t: TestContext, url: string) {
  const client = new pg.Client({ connectionString: url });
  // The server stops before the connection is closed.
  client.on('error', () => {});
  await client.connect();
  t.after(() => client.end().catch(() => {}));
  return client;
}

/** Starts a service on a server that counts its statements. */
async function openCounted(t: TestContext) {
  const server = await startPostgres('pg_stat_statements');
  t.after(server.stop);
  const counter = await connect(t, server.url);
  await counter.query('create extension pg_stat_statements');
  await counter.query("alter system set pg_stat_statements.track = 'all'");
  await counter.query('alter system set autovacuum = off'); // its transactions count, too
  await counter.query('select pg_reload_conf()');
  await counter.query('create database counted');
  const url = new URL(server.url);
  url.pathname = 'counted';
  const service = await startService(t, { settings: { DATABASE_URL: url.href } });
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'tea' });
  const watcher = await connect(t, url.href);
  let polls = 0;

  async function create(n: number): Promise<void> {
    const content = `Tea number ${n} is steeped at seventy degrees.`;
    const { record_id: id } = await client.records.create(collection, { type: 'text', content });
    for (let status = 'creating'; status === 'creating'; polls++) {
      // The server would count the transactions of this session later.
      const { rows } = await watcher.query(
        'select status as watched, pg_stat_force_next_flush() from record where id = $1',
        [id],
      );
      status = rows[0]?.watched;
      assert.match(status, /^(?:creating|ready)$/);
    }
  }

  async function count(): Promise<Counts> {
    const { rows: sums } = await counter.query(
      "select xact_commit + xact_rollback as transactions from pg_stat_database where datname = 'counted'",
    );
    const { rows } = await counter.query<{ query: string; calls: string }>(
      `select query, sum(calls) as calls from pg_stat_statements join pg_database on pg_database.oid = dbid
        where datname = 'counted' and query not like '%as watched%' group by query`,
    );
    const statements = new Map(rows.map(({ query, calls }) => [query, Number(calls)]));
    return { at: performance.now(), transactions: Number(sums[0].transactions) - polls, statements };
  }
  return { create, count };
}

test('[postgres] a small record costs few statements and transactions', async (t) => {
  const { create, count } = await openCounted(t);
  await create(-1);
  await pause(settleMs);
  const start = await count();
  await pause(idleMs);
  const before = await count();
  for (let n = 0; n < records; n++) await create(n);
  await pause(settleMs);
  const after = await count();
  // The searches of an idle service run beside the records, too.
  const share = (after.at - before.at) / (before.at - start.at);
  const perRecord = (of: (counts: Counts) => number) =>
    (of(after) - of(before) - (of(before) - of(start)) * share) / records;

  const costs = [...after.statements.keys()]
    .map((query) => ({ query, calls: perRecord(({ statements }) => statements.get(query) ?? 0) }))
    .filter(({ calls }) => Math.abs(calls) > 0.05)
    .sort((a, b) => b.calls - a.calls);
  for (const { query, calls } of costs) {
    t.diagnostic(`${calls.toFixed(2)} ${query.replaceAll(/\s+/g, ' ').slice(0, 120)}`);
  }
  const statements = costs.reduce((sum, { calls }) => sum + calls, 0);
  const transactions = perRecord((counts) => counts.transactions);
  t.diagnostic(`a small record: ${statements.toFixed(1)} statements, ${transactions.toFixed(1)} transactions`);
  assert.ok(statements <= most.statements, `${statements} statements`);
  assert.ok(transactions <= most.transactions, `${transactions} transactions`);
});

test('[postgres] an import of short pairs writes at most 6.5 times its file to the write-ahead log, and one that replaces pairs of a collection without statistics ends', async (t) => {
  const server = await startPostgres();
  t.after(server.stop);
  const watcher = await connect(t, server.url);
  // Without statistics of the keys, the server once compared all pairs with all.
  await watcher.query('alter system set autovacuum = off');
  await watcher.query('select pg_reload_conf()');
  const { client } = await startService(t, { settings: { DATABASE_URL: server.url } });
  const { collection_id: collection } = await client.collections.create({ name: 'pairs', type: 'qa' });
  async function importPairs(content: string): Promise<void> {
    const file = await client.files.upload(new Blob([content]), { purpose: 'qa_record_file', name: 'pairs.csv' });
    const sheet = { type: 'qa_sheet', file_id: file.file_id, on_duplicate: 'replace' } as const;
    const { record_id: id } = await client.records.create(collection, sheet);
    assert.equal((await settledRecord(client, collection, id)).status, 'ready');
  }
  const content = [...csv(20_000)].join('');
  const { rows: before } = await watcher.query('select pg_current_wal_lsn() as place');
  await importPairs(content);
  const { rows: after } = await watcher.query('select pg_wal_lsn_diff(pg_current_wal_lsn(), $1) as bytes', [
    before[0].place,
  ]);
  const times = Number(after[0].bytes) / Buffer.byteLength(content);
  t.diagnostic(`${times.toFixed(2)} times the file`);
  assert.ok(times > 1 && times < 6.5, `${times} times the file`);
  const [header = '', ...lines] = content.split('\n');
  await importPairs([header, ...lines.map((line) => line.replace('?', ' again?'))].join('\n'));
});

import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { connectClient } from '../../test/support/client.ts';
import { createTestDatabase } from '../../test/support/postgres.ts';
import { findPostgres } from '../../test/support/system-tools.ts';
import type { Row } from '../table.ts';
import { describeFigures } from './search-engine.ts';
import { searchSheets } from './search-texts.ts';
import { openSearchedService } from './searched-service.ts';

const size = 100_000;
/** Milliseconds: the largest p50 with one connection. */
const mostMs = 3;
/** The largest write-ahead logs of an import and of a deletion, as multiples of the file. */
const mostLog = { import: 4, deletion: 1 };
const megabyte = 1_000_000;

/** Measures PostgreSQL: questions, and the write-ahead log of the import and of the deletion of a record. */
export async function postgresRows(data: string): Promise<Row[]> {
  if (findPostgres() === undefined) {
    console.error('PostgreSQL is not measured: it is not installed.');
    return [];
  }
  const { url, drop } = await createTestDatabase();
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    return await measure(data, { url, database });
  } finally {
    await database.end();
    await drop();
  }
}

async function measure(data: string, { url, database }: { url: string; database: pg.Client }): Promise<Row[]> {
  const bytes = [...searchSheets(size)].reduce((sum, { csv }) => sum + Buffer.byteLength(csv), 0);
  const start = await readLogPlace(database);
  const settings = { QUARTERMASTER_DATABASE_URL: url };
  const searched = await openSearchedService({ name: 'PostgreSQL', data, size, settings });
  const { service, collection, imported } = searched;
  const rows: Row[] = [];
  const row = (bench: string, ours: string, [bar, met]: readonly [string, boolean]) =>
    rows.push({ bench: `search, PostgreSQL, ${bench}`, ours, floor: `load ${loadavg()[0]?.toFixed(1)}`, bar, met });
  try {
    const log = (await readLogPlace(database)) - start;
    const cost = (imported.processorSeconds / size) * 1e6;
    row(
      `import of ${size} chunks`,
      `${imported.seconds.toFixed(1)} s, ${cost.toFixed(0)} µs of processor a chunk, log ${describeLog(log, bytes)}`,
      [`log ≤ ${mostLog.import} × the file`, log <= mostLog.import * bytes],
    );
    for (const connections of [1, 4, 32]) {
      const figures = await searched.ask({ connections, seconds: 3 });
      const bar = connections === 1 ? ([`p50 ≤ ${mostMs} ms`, figures.p50 <= mostMs] as const) : (['–', true] as const);
      row(`${size} chunks, ${connections} connection${connections === 1 ? '' : 's'}`, describeFigures(figures), bar);
    }
    const client = connectClient(service, service.key);
    const [record] = (await client.records.list(collection)).data;
    const before = await readLogPlace(database);
    const began = performance.now();
    await client.records.delete(collection, record?.record_id ?? '');
    while (await hasChunks(database)) await pause(100);
    const seconds = (performance.now() - began) / 1000;
    const deleted = (await readLogPlace(database)) - before;
    row('deletion of the record', `${seconds.toFixed(1)} s, log ${describeLog(deleted, bytes)}`, [
      `log ≤ the file`,
      deleted <= mostLog.deletion * bytes,
    ]);
    return rows;
  } finally {
    await searched.close();
  }
}

/** Returns the end of the write-ahead log, in bytes. */
async function readLogPlace(database: pg.Client): Promise<number> {
  const { rows } = await database.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as place");
  return Number(rows[0].place);
}

async function hasChunks(database: pg.Client): Promise<boolean> {
  const { rows } = await database.query('select exists (select from chunk) as found');
  return rows[0].found;
}

function describeLog(log: number, file: number): string {
  return `${(log / megabyte).toFixed(0)} MB (${(log / file).toFixed(1)} × the file)`;
}

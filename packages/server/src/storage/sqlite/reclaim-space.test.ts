import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import {
  addCollection,
  addRecord,
  claim,
  claimAt,
  keyOf,
  newChunk,
  start,
} from '../../stores/collections/testing/fixtures.suite.ts';
import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { createCollectionRepositories } from '../repositories/records/collection-repositories.ts';
import { createReclaimTask, sqliteFile } from './sqlite-database.ts';

const never = new AbortController().signal;

async function openStore(t: TestContext) {
  const { database, folder, close } = await openTemporaryDatabase();
  t.after(close);
  const { write } = database;
  const metrics = createMetrics();
  const pragma = async (name: string) => {
    const { rows } = await sql.raw<Record<string, number>>(`pragma ${name}`).execute(write);
    return Object.values(rows[0] ?? {})[0];
  };
  async function readDisk(): Promise<Buffer> {
    await pragma('wal_checkpoint(truncate)');
    return await readFile(join(folder, sqliteFile));
  }
  const task = createReclaimTask(
    { write, logger: createLogger('silent'), metrics },
    { betweenSteps: 0, betweenRuns: 0 },
  );
  return { database, pragma, readDisk, task, metrics };
}

test('a new store uses incremental vacuum', async (t) => {
  const { pragma } = await openStore(t);
  const incremental = 2;
  assert.equal(await pragma('auto_vacuum'), incremental);
});

test('a deleted record makes the database file smaller, in steps of at most 256 pages', async (t) => {
  const { database, pragma, readDisk, task, metrics } = await openStore(t);
  const bytesOnDisk = async () => (await readDisk()).length;
  const repositories = createCollectionRepositories(database);
  const collection = await addCollection(repositories);
  const record = await addRecord(repositories, collection);
  const empty = await bytesOnDisk();
  const job = await claim(repositories);
  const chunks = Array.from({ length: 1_000 }, (_, ordinal) => newChunk('x'.repeat(4_000), { ordinal }));
  await repositories.jobs.addChunks(job, chunks);
  await repositories.jobs.publish(job, { status: 'ready', numChunks: chunks.length, report: {}, now: start });
  const full = await bytesOnDisk();
  assert.ok(full > empty + 3_000_000);

  await repositories.records.markDeleting(keyOf(record), start);
  const sweep = await repositories.jobs.claim(claimAt(start, { kind: 'sweep' }));
  assert.ok(sweep);
  const lease = { limit: 500, leaseUntil: start + 1_000 };
  while ((await repositories.jobs.sweep(sweep, lease)) === 'more');
  const free = Number(await pragma('freelist_count'));
  assert.ok(free > 1_000);

  await task.run(never);
  assert.equal(await pragma('freelist_count'), free, 'the next write may use pages that were free for a moment');
  const stopped = new AbortController();
  const stepping = task.run(stopped.signal);
  stopped.abort();
  await stepping;
  assert.ok(Number(await pragma('freelist_count')) >= free - 256);
  await task.run(never);
  assert.equal(await pragma('freelist_count'), 0);
  assert.ok((await bytesOnDisk()) < empty + 200_000);
  const counted = await metrics.metrics();
  assert.match(counted, new RegExp(`reclaimed_bytes_total ${free * 4_096}`));
  assert.equal(await pragma('integrity_check'), 'ok');
});

test('pages that became free since the last run are not reclaimed, also after a run that reclaimed others', async (t) => {
  const { database, pragma, task } = await openStore(t);
  const run = (statement: string) => sql.raw(statement).execute(database.write);
  await run(`create table filler as with recursive n(value) as (select 1 union all select value + 1 from n where value < 600)
    select value, zeroblob(4000) as x from n`);
  await run('delete from filler where value <= 400');
  await task.run(never);
  await task.run(never);
  assert.equal(await pragma('freelist_count'), 0);
  await run('delete from filler');
  const free = Number(await pragma('freelist_count'));
  assert.ok(free > 150, `${free} pages`);
  await task.run(never);
  assert.equal(await pragma('freelist_count'), free);
  await task.run(never);
  assert.equal(await pragma('freelist_count'), 0);
});

test('no text of a deleted row stays in the database file', async (t) => {
  const { database, pragma, readDisk, task } = await openStore(t);
  const run = (statement: string) => sql.raw(statement).execute(database.write);
  await run('create table note (id integer primary key, project text, words text)');
  await run('create index note_of_project on note (project, words)');
  // The rows of two projects share pages, and some rows continue on pages of their own.
  await run(`insert into note with recursive n(value) as (select 1 union all select value + 1 from n where value < 4000)
    select value, value % 2, iif(value % 2, 'Lapsang', 'Oolong') || hex(zeroblob(value % 1500)) from n`);
  assert.ok((await readDisk()).includes('Lapsang'));
  for (let deleted = 0; deleted < 4000; deleted += 500)
    await run(`delete from note where project = '1' and id <= ${deleted + 500}`);
  await task.run(never);
  await task.run(never);
  assert.equal(await pragma('freelist_count'), 0);
  const left = await readDisk();
  assert.deepEqual([left.includes('Lapsang'), left.includes('Oolong')], [false, true]);
});

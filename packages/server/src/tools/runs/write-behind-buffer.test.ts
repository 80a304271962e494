import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { Problem } from '../../platform/problem.ts';
import { until } from '../execution/sandbox/testing/test-bed.suite.ts';
import type { PackedRun } from './run-repository.ts';
import { createWriteBehindBuffer, type WriteBehindOptions } from './write-behind-buffer.ts';

const pack = (id: number, row = `[${id}]`): PackedRun => ({ projectId: null, id: String(id), row });
const away = new Problem('SERVICE_UNAVAILABLE', 'The database cannot be reached.');
const refusal = new Error('disk full');

/** Opens a buffer over a fake database that fails on request, or for a number of attempts. */
function openBuffer(t: TestContext, options: Partial<WriteBehindOptions> = {}) {
  const log: string[] = [];
  const database = { stored: [] as string[], groups: 0, tries: 0, failing: undefined as Error | undefined };
  let mendsAfter = Number.POSITIVE_INFINITY;
  const repository = {
    async add(runs: readonly PackedRun[]) {
      database.tries += 1;
      if (database.failing !== undefined && database.tries <= mendsAfter) throw database.failing;
      database.groups += 1;
      database.stored.push(...runs.map(({ id }) => id));
    },
  };
  const metrics = createMetrics();
  const logger = createLogger('info', { write: (line) => log.push(line) });
  const quick = { waitMs: 1, pauseMs: 1, ...options };
  const buffer = createWriteBehindBuffer({ repository, logger, metrics, options: quick });
  t.after(() => buffer.close());
  const dropped = async () =>
    /run_records_dropped_total (\d+)/.exec(await metrics.metrics())?.[1] ?? assert.fail('no such metric');
  const mendAfter = (tries: number) => {
    mendsAfter = tries;
  };
  return { buffer, database, mendAfter, log, dropped };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => String(from + at));

test('records are stored in groups, in the order in which the runs ended', async (t) => {
  const { buffer, database, dropped } = openBuffer(t, { groupSize: 10 });
  for (let id = 0; id < 25; id += 1) buffer.add(pack(id));
  assert.equal(buffer.waiting().length, 25);
  await until('all are stored', () => database.stored.length === 25);
  assert.deepEqual(database.stored, numbers(0, 25));
  assert.equal(database.groups, 3);
  assert.equal(buffer.waiting().length, 0);
  assert.equal(await dropped(), '0');
});

test('during an outage of the database nothing is lost, and the log reports it once', async (t) => {
  const { buffer, database, log, dropped } = openBuffer(t, { groupSize: 2 });
  database.failing = away;
  for (let id = 0; id < 5; id += 1) buffer.add(pack(id));
  await until('it was tried often', () => database.tries > 20);
  assert.deepEqual(
    buffer.waiting().map(({ id }) => id),
    numbers(0, 5),
  );
  database.failing = undefined;
  await until('all are stored', () => database.stored.length === 5);
  assert.deepEqual(database.stored, numbers(0, 5));
  assert.equal(await dropped(), '0');
  assert.equal(log.length, 1, log.join(''));
});

test('a group that the database refuses eight times is dropped, and the next one is stored', async (t) => {
  const { buffer, database, mendAfter, dropped } = openBuffer(t, { groupSize: 2 });
  database.failing = refusal;
  mendAfter(8);
  for (let id = 0; id < 3; id += 1) buffer.add(pack(id));
  await until('it was given up', () => database.stored.length > 0);
  assert.deepEqual(database.stored, ['2']);
  assert.equal(await dropped(), '2');
});

for (const [what, options, row] of [
  ['by number', { most: 20 }, '[]'],
  ['by size', { mostCharacters: 20_000 }, 'x'.repeat(1000)],
] as const) {
  test(`the number of waiting records is limited ${what}: the oldest are dropped, counted and reported`, async (t) => {
    const { buffer, database, log, dropped } = openBuffer(t, { ...options, groupSize: 1000 });
    database.failing = away;
    for (let id = 0; id < 200; id += 1) buffer.add(pack(id, row));
    const ids = buffer.waiting().map(({ id }) => id);
    assert.ok(ids.length >= 15 && ids.length <= 22, `${ids.length} wait`);
    assert.deepEqual(ids, numbers(200 - ids.length, 200));
    assert.equal(await dropped(), String(200 - ids.length));
    assert.match(log.join(''), /run records dropped/);
  });
}

test('a stop stores the waiting records, or logs how many are lost', async (t) => {
  const { buffer, database, log, dropped } = openBuffer(t, { waitMs: 60_000 });
  buffer.add(pack(1));
  await buffer.close();
  assert.deepEqual(database.stored, ['1']);
  database.failing = refusal;
  buffer.add(pack(2));
  await buffer.close();
  assert.equal(await dropped(), '1');
  assert.match(log.join(''), /"reason":"the service stops"/);
});

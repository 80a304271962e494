import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { createMetrics } from '../../platform/metrics.ts';
import { openTestDatabase, openTestService } from '../collections/testing/test-collections.suite.ts';
import { createRecordMetrics } from './record-metrics.ts';

test('a collection whose removal fails does not delay the next one, and the failure is counted', async (t) => {
  const database = await openTestDatabase(t);
  const registry = createMetrics();
  const metrics = createRecordMetrics({ registry, countRecords: async () => new Map() });
  const { createProject } = await openTestService(t, { database, metrics });
  const project = createProject();
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) {
    const id = await project.collection();
    await project.call('POST', `/v1/collections/${id}/chunks`, { content: 'water' });
    ids.push(id);
  }
  const [first = ''] = ids.sort();
  const failing = sql.raw(`create trigger keeps before delete on chunk when old.collection_id = '${first}'
    begin select raise(abort, 'not this one'); end`);
  await failing.execute(database.write);
  for (const id of ids) assert.equal((await project.call('DELETE', `/v1/collections/${id}`)).status, 200);

  const remaining = async () =>
    (await database.read.selectFrom('collection').select('id').execute()).map(({ id }) => id);
  while ((await remaining()).length > 1) await pause(10);
  assert.deepEqual(await remaining(), [first]);
  const failed = await registry.getSingleMetric('quartermaster_sweeps_failed_total')?.get();
  assert.equal(failed?.values[0]?.value, 1, 'it waits for its second try');
});

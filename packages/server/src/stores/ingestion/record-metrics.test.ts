import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../platform/metrics.ts';
import { createCollectionRepositories } from '../../storage/repositories/records/collection-repositories.ts';
import { openTestCollection, openTestDatabase } from '../collections/testing/test-collections.suite.ts';
import { createRecordMetrics } from './record-metrics.ts';

test('the metrics report records by status, the seconds of each stage and the number of written chunks', async (t) => {
  const registry = createMetrics();
  const database = await openTestDatabase(t);
  const { countByStatus } = createCollectionRepositories(database).records;
  const metrics = createRecordMetrics({ registry, countRecords: countByStatus });
  const { record, collectionId } = await openTestCollection(t, { database, metrics });
  const created = await record(collectionId, { content: 'A red fox.' });
  assert.deepEqual([created.status, created.num_chunks], ['ready', 1]);
  const failed = await record(collectionId, { type: 'web', url: 'https://example.org/' });
  assert.equal(failed.status, 'error');

  const text = await registry.metrics();
  const has = (line: string) => assert.ok(text.split('\n').includes(line), `${line} is missing in\n${text}`);
  has('quartermaster_records{status="ready"} 1');
  has('quartermaster_records{status="error"} 1');
  has('quartermaster_records{status="creating"} 0');
  has('quartermaster_chunks_written_total 1');
  metrics.rechunked('replaced');
  assert.match(await registry.metrics(), /^quartermaster_rechunked_records_total\{outcome="replaced"\} 1$/m);
  for (const stage of ['parsing', 'chunking', 'indexing', 'fetching']) {
    has(`quartermaster_record_stage_seconds_count{stage="${stage}"} 1`);
  }
});

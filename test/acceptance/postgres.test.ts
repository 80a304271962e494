import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, temporaryFolder } from '../support/service.ts';

test('[postgres] the service works on PostgreSQL as on SQLite, and finds everything again after a restart', async (t) => {
  const folder = await temporaryFolder(t);
  const database = await createTestDatabase();
  const settings = { DATABASE_URL: database.url };
  const service = await startService(t, { folder, settings });
  t.after(() => database.drop());

  const file = await service.client.files.upload({
    purpose: 'record_file',
    name: 'tea.md',
    content: new Blob(['# Tea\n\nGreen tea is steeped at seventy degrees.\n']),
  });
  const { collection_id: collection } = await service.client.collections.create({ name: 'tea' });
  const record = await service.client.records.create(collection, { type: 'file', file_id: file.file_id });
  assert.equal((await service.client.records.settled(collection, record.record_id)).status, 'ready');
  assert.equal(await service.stop(), 0);

  const again = await startService(t, { folder, settings });
  const [best] = await again.client.collections.query(collection, { query_text: 'How hot is green tea?', top_k: 1 });
  assert.match(best?.content ?? '', /seventy degrees/);
  assert.equal((await again.client.files.get(file.file_id)).references[0]?.record_id, record.record_id);
  assert.equal(await again.stop(), 0);
});

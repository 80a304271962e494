import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, temporaryFolder } from '../support/service.ts';

const moreThanAnyDisk = String(1_000_000_000);

test('[disk] while little is free on the disk uploads are refused with 507, everything else goes on; with room again they are taken', async (t) => {
  const folder = await temporaryFolder(t);
  const settings = { MIN_FREE_DISK_MB: moreThanAnyDisk };
  const crowded = await startService(t, { folder, settings });
  const upload = { purpose: 'record_file', name: 'tea.txt', content: new Blob(['Green tea.']) } as const;
  await assert.rejects(crowded.client.files.upload(upload), { status: 507, code: 'INSUFFICIENT_STORAGE' });
  assert.deepEqual((await crowded.client.files.list()).data, []);
  const { collection_id: collection } = await crowded.client.collections.create({ name: 'tea' });
  const record = await crowded.client.records.create(collection, { content: 'Green tea.' });
  assert.equal((await crowded.client.records.settled(collection, record.record_id)).status, 'ready');
  assert.equal(await crowded.stop(), 0);

  const roomy = await startService(t, { folder, settings: { MIN_FREE_DISK_MB: '0' } });
  assert.equal((await roomy.client.files.upload(upload)).bytes, 10);
  assert.equal(await roomy.stop(), 0);
});

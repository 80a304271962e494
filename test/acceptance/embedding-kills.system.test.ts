import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { settledRecord } from '../support/client.ts';
import { type EmbeddingService, startEmbeddingService } from '../support/embedding-service.ts';
import { repeatsKills } from '../support/kill-depth.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const kills = repeatsKills ? 6 : 2;
/** Texts that are paid between two kills. Up to 128 are on their way at each kill. */
const textsBetweenKills = 1500;
const rows = (kills + 1) * textsBetweenKills;
const sheet = ['question,answer', ...Array.from({ length: rows }, (_, n) => `question ${n},answer ${n}`)].join('\n');

test('[embeddings] after kills in the middle of embedding, every chunk has its vector, and few texts are paid twice', async (t) => {
  const folder = await temporaryFolder(t);
  let most = textsBetweenKills;
  // It stops to answer until the kill, however late the test notices the number of texts.
  const embedding: EmbeddingService = await startEmbeddingService(t, {
    embed: (text) => {
      if (embedding.texts.length >= most) embedding.setDown(true);
      return [text.length, 1];
    },
  });
  const settings = { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: embedding.url };
  const start = () => startService(t, { folder, settings });
  let service = await start();
  const { client } = service;
  const upload = { purpose: 'qa_record_file', name: 'pairs.csv' } as const;
  const file = await client.files.upload(new Blob([sheet]), upload);
  const { collection_id: collection } = await client.collections.create({ type: 'qa' });
  const created = await client.records.create(collection, { type: 'qa_sheet', file_id: file.file_id });
  for (let kill = 1; kill <= kills; kill++) {
    await until(async () => embedding.texts.length >= kill * textsBetweenKills);
    assert.ok(new Set(embedding.texts).size < rows, 'all texts were sent before the kill');
    await service.kill();
    most = kill === kills ? Number.POSITIVE_INFINITY : most + textsBetweenKills;
    embedding.setDown(false);
    service = await start();
  }
  await settledRecord(service.client, collection, created.record_id);
  await until(async () => (await service.client.collections.get(collection)).vectors === 'current');
  const { embedding: counts } = await service.client.collections.get(collection);
  assert.deepEqual([counts?.num_embedded, counts?.num_pending], [rows, 0]);
  const paid = embedding.texts.length;
  const distinct = new Set(embedding.texts).size;
  assert.ok(paid <= 1.1 * distinct, `${paid} texts were paid for ${distinct} distinct ones`);
  t.diagnostic(
    `${kills} kills: ${paid} texts paid for ${distinct} distinct ones, ${(paid / distinct).toFixed(3)} each`,
  );
  assert.equal(await service.stop(), 0);
});

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Quartermaster } from '@quartermaster/client';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { settledRecord } from '../support/client.ts';
import { startEmbeddingService } from '../support/embedding-service.ts';
import { installOnnxRuntime } from '../support/onnx-runtime.ts';
import { startService, temporaryFolder } from '../support/service.ts';
import { writeTinyModel } from '../support/tiny-model.ts';

const key = 'sk-nobody-may-see-this';
/** The meanings that the embedding service knows: drinks and vehicles. */
const meanings = [/tea|coffee|drink|beverage/i, /car|train|vehicle/i];

const embed = (text: string) => [...meanings.map((meaning) => (meaning.test(text) ? 1 : -0.2)), 0.1];

/** Waits until the record is ready and the vectors of its collection are current. */
async function embeddedRecord(client: Quartermaster, collection: string, recordId: string) {
  await settledRecord(client, collection, recordId);
  await until(async () => (await client.collections.get(collection)).vectors === 'current');
  return client.records.get(collection, recordId);
}

test('[embeddings] a question finds synonyms, the key appears nowhere, and searches use words only while the embedding service is down', async (t) => {
  const folder = await temporaryFolder(t);
  const embedding = await startEmbeddingService(t, { embed, key });
  const keyFile = join(folder, 'embedding-key');
  await writeFile(keyFile, `${key}\n`);
  const settings = {
    EMBEDDING_PROVIDER: 'openai',
    EMBEDDING_URL: embedding.url,
    EMBEDDING_KEY_FILE: keyFile,
    LOG_LEVEL: 'debug',
  };
  const service = await startService(t, { folder, settings });
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'things' });
  for (const content of ['Green tea from Uji.', 'The night train to Vienna.']) {
    const created = await client.records.create(collection, { content });
    const record = await embeddedRecord(client, collection, created.record_id);
    const embedding = { model: 'openai:text-embedding-3-small', num_embedded: 1, num_pending: 0, num_refused: 0 };
    assert.deepEqual(record.embedding, { ...embedding, num_tokens: 1, reason: null });
  }
  const ask = { query_text: 'a hot beverage', top_k: 1, explain: true };
  const [best] = await client.search(collection, ask);
  assert.equal(best?.content, 'Green tea from Uji.');
  assert.deepEqual([best?.explanation?.words, best?.explanation?.vector?.rank], [null, 1]);
  assert.equal(await service.stop(), 0);
  assert.ok(!service.log().includes(key));

  const again = await startService(t, { folder, settings });
  assert.equal((await again.client.search(collection, ask))[0]?.content, 'Green tea from Uji.');
  assert.equal(embedding.texts.filter((text) => text === 'Green tea from Uji.').length, 1, 'embedded once');
  embedding.setDown(true);
  const [byWords] = await again.client.search(collection, { query_text: 'train', explain: true });
  assert.deepEqual([byWords?.content, byWords?.explanation?.vector], ['The night train to Vienna.', null]);
  assert.equal(await again.stop(), 0);
  assert.ok(!again.log().includes(key));

  // The former model is listed in a file, and the first one is another.
  embedding.setDown(false);
  const models = join(folder, 'models.json');
  await writeFile(models, JSON.stringify([{ provider: 'openai', url: embedding.url, key_file: keyFile }]));
  const changed = { ...settings, EMBEDDING_MODEL: 'another-model', EMBEDDING_MODELS_FILE: models };
  const later = await startService(t, { folder, settings: changed });
  assert.equal((await later.client.search(collection, ask))[0]?.content, 'Green tea from Uji.');
  assert.equal((await later.client.collections.get(collection)).vectors, 'current');
  assert.equal(await later.stop(), 0);
  assert.ok(!later.log().includes(key));
});

test('[embeddings] a model in a local folder finds synonyms without a network, survives a kill of its process, and ends with the service', async (t) => {
  await installOnnxRuntime();
  const folder = await temporaryFolder(t);
  const model = join(folder, 'model');
  const [drink, vehicle] = [
    [1, 0],
    [0, 1],
  ];
  await writeTinyModel(model, {
    vectors: { tea: drink, beverage: drink, green: [0.1, 0], train: vehicle, tram: vehicle, vienna: [0, 0.1] },
  });
  const settings = { EMBEDDING_PROVIDER: 'onnx', EMBEDDING_MODEL: model };
  const service = await startService(t, { folder, settings });
  const { client } = service;
  const { collection_id: collection } = await client.collections.create({ name: 'things' });
  for (const content of ['Green tea from Uji.', 'The night train to Vienna.']) {
    const created = await client.records.create(collection, { content });
    const { embedding } = await embeddedRecord(client, collection, created.record_id);
    assert.match(embedding?.model ?? '', /^onnx:model:[0-9a-f]{12}:2$/);
  }
  const ask = (query_text: string) => client.search(collection, { query_text, top_k: 1, explain: true });
  const [best] = await ask('a hot beverage');
  assert.deepEqual([best?.content, best?.explanation?.words], ['Green tea from Uji.', null]);

  const metrics = async () => {
    const answer = await fetch(`${service.filesUrl}/metrics`, { headers: { authorization: `Bearer ${service.key}` } });
    return answer.text();
  };
  assert.match(await metrics(), /quartermaster_embedded_texts_total\{use="chunk",outcome="made"\} 2/);
  /** Returns the n-th process of the model. Its log line may arrive up to a second later. */
  const processOf = async (n: number) => {
    for (;;) {
      const pids = service.log().match(/(?<="pid":)\d+(?=,"msg":"embedding model process started")/g);
      if (pids?.[n - 1] !== undefined) return Number(pids[n - 1]);
      await pause(20);
    }
  };
  const first = await processOf(1);
  process.kill(first, 'SIGKILL');
  // Until the process runs again, the search uses words only, and no text contains the word tram.
  let found = '';
  while (found !== 'The night train to Vienna.') found = (await ask(`tram ${Date.now()}`))[0]?.content ?? '';
  assert.match(await metrics(), /quartermaster_embedder_starts_total 2/);
  const second = await processOf(2);
  assert.notEqual(second, first);
  await service.kill();
  while (isRunning(second)) await pause(20);
});

/** Returns whether the process is alive. A zombie is not. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync('/proc') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('[embeddings] an unusable model stops the start with an error that names the reason', async (t) => {
  const folder = await temporaryFolder(t);
  await installOnnxRuntime();
  const settings = { EMBEDDING_PROVIDER: 'onnx', EMBEDDING_MODEL: join(folder, 'nothing') };
  await assert.rejects(startService(t, { settings }), /nothing has no model\.onnx and no onnx\/model\.onnx/);
});

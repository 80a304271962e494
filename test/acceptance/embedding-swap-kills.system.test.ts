import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { settledRecord } from '../support/client.ts';
import { startEmbeddingService } from '../support/embedding-service.ts';
import { repeatsKills } from '../support/kill-depth.ts';
import { databaseFor } from '../support/postgres.ts';
import { startService, temporaryFolder } from '../support/service.ts';

const rows = 1200;
/** Up to 128 texts are on their way at each kill, and two kills meet the building. */
const mostTwice = 2 * 128;
const sheet = ['question,answer', ...Array.from({ length: rows }, (_, n) => `question ${n},answer ${n}`)].join('\n');
interface Store {
  readonly settings: Readonly<Record<string, string>>;
  /** Reads the sets of vectors directly, while no service runs. */
  readonly sets: () => Promise<ReadonlyArray<{ role: string; model: string }>>;
}

const setsQuery = 'select role, model from collection_vector';
const prefixes = { EMBEDDING_QUERY_PREFIX: 'Q: ', EMBEDDING_DOCUMENT_PREFIX: 'D: ' };

/**
 * Builds vectors of a second model beside the first, and goes back and forth between both. The service is killed during the
 * building, at its last text, and around each exchange of complete sets.
 */
async function swapUnderKills(t: TestContext, folder: string, { store, swaps }: { store: Store; swaps: number }) {
  const embedding = await startEmbeddingService(t, { embed: (text) => [text.length, 1] });
  const provider = { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: embedding.url, ...prefixes, ...store.settings };
  const former = join(folder, 'models.json');
  const members = { url: embedding.url, query_prefix: 'Q: ', document_prefix: 'D: ' };
  await writeFile(former, JSON.stringify([{ provider: 'openai', model: 'one', ...members }]));
  const start = (settings: Record<string, string>) =>
    startService(t, { folder, settings: { ...provider, ...settings } });
  const startWithBoth = () => start({ EMBEDDING_MODEL: 'two', EMBEDDING_MODELS_FILE: former });

  let running = await start({ EMBEDDING_MODEL: 'one' });
  const file = await running.client.files.upload(new Blob([sheet]), { purpose: 'qa_record_file', name: 'pairs.csv' });
  const { collection_id: collection } = await running.client.collections.create({ type: 'qa' });
  const source = { type: 'qa_sheet', file_id: file.file_id } as const;
  const { record_id: record } = await running.client.records.create(collection, source);
  await settledRecord(running.client, collection, record);

  const chunksOf = (model: string) => embedding.textsOf(model).filter((text) => text.startsWith('D: '));
  const setsOf = async () => (await running.client.collections.get(collection)).vector_sets;
  const answeredBy = (model: string) =>
    until(async () => {
      const { vectors, vector_sets } = await running.client.collections.get(collection);
      return vectors === 'current' && vector_sets[0]?.model.startsWith(`openai:${model}:`) === true;
    });

  /** Kills the service, and checks what it has left and what the next one answers. */
  async function kill(): Promise<void> {
    await running.kill();
    const sets = await store.sets();
    assert.equal(sets.filter(({ role }) => role === 'live').length, 1, JSON.stringify(sets));
    assert.equal(new Set(sets.map(({ model }) => model)).size, sets.length, JSON.stringify(sets));
    running = await startWithBoth();
    const [best] = await running.client.search(collection, { query_text: 'question 718', top_k: 1 });
    assert.equal(best?.content, 'question 718\n\nanswer 718');
  }

  await answeredBy('one');
  assert.equal(await running.stop(), 0);
  running = await startWithBoth();
  await running.client.collections.reembed(collection);
  await until(async () => chunksOf('two').length >= rows / 2);
  await kill();
  await until(async () => new Set(chunksOf('two')).size === rows);
  await kill();
  await answeredBy('two');
  for (let swap = 1; swap <= swaps; swap++) {
    const kept = (await setsOf()).find(({ role }) => role === 'kept');
    assert.ok(kept, 'the former set is kept');
    await running.client.collections.reembed(collection, { embedding_model_id: kept.embedding_model_id });
    // The exchange takes some milliseconds. The kills come before, in and after it.
    await pause(4 * (swap - 1));
    await kill();
    await answeredBy(swap % 2 === 1 ? 'one' : 'two');
  }
  assert.equal(await running.stop(), 0);
  const [one, two] = [chunksOf('one').length, chunksOf('two').length];
  assert.equal(one, rows, 'going back and forth pays for nothing');
  assert.ok(two <= rows + mostTwice, `${two} texts were paid for ${rows} distinct ones`);
  t.diagnostic(`${swaps + 2} kills: ${two} texts of the second model were paid for ${rows}`);
}

test('[embeddings] after kills around the exchange of two sets of vectors, one set is in use and few texts are paid twice', async (t) => {
  const folder = await temporaryFolder(t);
  const sets = async () => {
    using database = new DatabaseSync(join(folder, 'quartermaster.db'), { readOnly: true });
    return database.prepare(setsQuery).all() as unknown as Awaited<ReturnType<Store['sets']>>; // both columns are texts
  };
  await swapUnderKills(t, folder, { store: { settings: {}, sets }, swaps: repeatsKills ? 12 : 3 });
});

test('[embeddings] after kills around the exchange of two sets of vectors on PostgreSQL, one set is in use and few texts are paid twice', async (t) => {
  const url = await databaseFor(t);
  const sets = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(setsQuery)).rows;
    } finally {
      await client.end();
    }
  };
  const folder = await temporaryFolder(t);
  await swapUnderKills(t, folder, { store: { settings: { DATABASE_URL: url }, sets }, swaps: repeatsKills ? 6 : 1 });
});

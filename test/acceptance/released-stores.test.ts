import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { until } from '../../packages/server/src/kernel/testing/until.ts';
import { createTestDatabase } from '../support/postgres.ts';
import {
  lookAround,
  type ReleasedStore,
  releasedSettings,
  startUpstream,
  unpackFolder,
} from '../support/released-store.ts';
import { startService, temporaryFolder } from '../support/service.ts';

/** `scripts/capture-store.ts` created this fixture. */
const fixture = new URL('../fixtures/store-f3b76cb/', import.meta.url);

async function restore(t: TestContext, database: 'sqlite' | 'postgres'): Promise<Record<string, string>> {
  const folder = await temporaryFolder(t);
  await unpackFolder(await readFile(new URL(`${database}.json.gz`, fixture)), folder);
  if (database === 'sqlite') return { DATA: folder };
  const { url, drop } = await createTestDatabase();
  t.after(drop);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(await readFile(new URL('postgres.sql', fixture), 'utf8'));
  await client.end();
  return { DATA: folder, DATABASE_URL: url };
}

/**
 * Replaces the vector states. The store was created with the removed embedding provider `hash`, so vectors are now off.
 */
function withVectorsOff(found: unknown): unknown {
  return JSON.parse(JSON.stringify(found), (name, value) => (name === 'vectors' ? 'off' : value));
}

/** Returns how many collections have an index of an earlier version, or rows of it. In PostgreSQL, its tables count too. */
async function countOldIndexes(folder: string, databaseUrl: string | undefined): Promise<number> {
  if (databaseUrl === undefined) {
    using store = new DatabaseSync(join(folder, 'quartermaster.db'), { readOnly: true, timeout: 5000 });
    const found = store.prepare(
      'select (select count(*) from full_text) + (select count(*) from full_text_place) as n',
    );
    return Number(found.get()?.n);
  }
  const collections = 'select collection_id from full_text union select collection_id from index_rebuild';
  const left = `select count(*) + count(to_regclass('posting')) as count from (${collections}) as old`;
  return countRows(databaseUrl, left);
}

async function countRows(databaseUrl: string, query: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(query);
  await client.end();
  return Number(rows[0]?.count);
}

const countAll = 'select count(*) as count from chunk_vector';
/** The migration stores the counts of vectors. All vectors of the store are current. */
const sumOfStoredCounts = 'select sum(num_embedded) as count from collection_vector';

async function countVectors(folder: string, databaseUrl: string | undefined, query = countAll): Promise<number> {
  if (databaseUrl === undefined) {
    using store = new DatabaseSync(join(folder, 'quartermaster.db'));
    return Number(store.prepare(query).get()?.count);
  }
  return countRows(databaseUrl, query);
}

for (const database of ['sqlite', 'postgres'] as const) {
  test(`[upgrade] a store that the first version made in ${database} keeps every byte, record, key, profile and run, and questions find the same passages`, async (t) => {
    const known = JSON.parse(await readFile(new URL('expected.json', fixture), 'utf8')) as Record<
      string,
      ReleasedStore
    >;
    const store = known[database] ?? assert.fail(database);
    const { DATA: folder = '', ...more } = await restore(t, database);
    const settings = { ...releasedSettings(await startUpstream(t)), ...more };
    const before = await countVectors(folder, more.DATABASE_URL);
    assert.ok(before > 0);
    // The first start upgrades the store, the second finds it upgraded, and the third has new search indexes.
    for (const start of ['first', 'second', 'third']) {
      const service = await startService(t, { folder, settings, key: store.keys.first });
      if (start === 'third') await until(async () => (await countOldIndexes(folder, more.DATABASE_URL)) === 0);
      assert.deepEqual(await lookAround(service, store), withVectorsOff(store.found), `${start} start`);
      assert.equal(await service.stop(), 0);
      assert.match(
        service.log(),
        /"remedy":"Set QUARTERMASTER_EMBEDDING_PROVIDER to none, [^"]*","msg":"embedding provider hash removed/,
      );
    }
    assert.equal(await countVectors(folder, more.DATABASE_URL), before);
    assert.equal(await countVectors(folder, more.DATABASE_URL, sumOfStoredCounts), before);
  });
}

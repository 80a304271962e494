import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import {
  addCollection,
  addRecord,
  claim,
  keyOf,
  publish,
  start,
} from '../../../stores/collections/testing/fixtures.suite.ts';
import type { Database } from '../../database/database.ts';
import { type DatabaseKind, temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { createCollectionRepositories } from './collection-repositories.ts';

async function open(t: TestContext, kind: DatabaseKind, wrap = (database: Database) => database) {
  const { database, close } = await temporaryDatabases[kind]();
  t.after(close);
  return { database, repositories: createCollectionRepositories(wrap(database)) };
}

/** The sizes of a batch that is inserted, and of one that is copied. */
const sizes = [3, 200];
const odd = ['\\N', '\\.', 'a\tb\nc\r\nd\\n', 'it\'s "quoted"', 'é\u{1f375}'];

for (const size of sizes) {
  test(`PostgreSQL stores ${size} chunks with unusual characters in their order`, async (t) => {
    const { database, repositories } = await open(t, 'PostgreSQL');
    const collection = await addCollection(repositories);
    await addRecord(repositories, collection);
    const contents = Array.from({ length: size }, (_, n) => `${odd[n % odd.length]} ${n}`);
    await publish(repositories, await claim(repositories), contents);
    const rows = database.read.selectFrom('chunk').select('content');
    assert.deepEqual(
      (await rows.orderBy('seq').execute()).map(({ content }) => content),
      contents,
    );
    assert.deepEqual(await database.searchIndex.check(database.read, collection.id), []);
    assert.equal((await database.searchIndex.statistics(database.read, collection.id)).chunks, size);
  });

  test(`no session has an open transaction while the rows and the index of ${size} chunks are built in PostgreSQL`, async (t) => {
    const sessions: number[] = [];
    const { repositories } = await open(t, 'PostgreSQL', (database) => ({
      ...database,
      searchIndex: {
        ...database.searchIndex,
        async prepare(collectionId, chunks) {
          const { rows } = await sql<{ open: number }>`select count(*) as open from pg_stat_activity
            where datname = current_database() and state like 'idle in transaction%'`.execute(database.read);
          sessions.push(rows[0]?.open ?? -1);
          return (await database.searchIndex.prepare?.(collectionId, chunks)) ?? assert.fail();
        },
      },
    }));
    const collection = await addCollection(repositories);
    await addRecord(repositories, collection);
    const contents = Array.from({ length: size }, (_, n) => `tea ${n}`);
    await publish(repositories, await claim(repositories), contents);
    assert.deepEqual(sessions, [0]);
  });
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`chunks have the terms of metadata that changed after the claim of their record: ${kind}`, async (t) => {
    const { database, repositories } = await open(t, kind);
    const collection = await addCollection(repositories);
    const record = await addRecord(repositories, collection, { metadata: { lang: 'de' } });
    const job = await claim(repositories);
    const changed = await repositories.records.change(keyOf(record), { metadata: { lang: 'en' }, updatedAt: start });
    assert.ok(changed);
    await publish(repositories, job, ['green tea']);
    // A mark would let the database decide instead of the index.
    await database.write.updateTable('record').set({ metadata_changed: 0 }).execute();
    const find = (lang: string) =>
      repositories.chunks.rank({
        ...{ projectId: collection.projectId, collectionId: collection.id, words: ['tea'], limit: 3 },
        filter: { type: 'eq', key: 'lang', value: lang },
      });
    assert.deepEqual([(await find('en')).length, (await find('de')).length], [1, 0]);
  });
}

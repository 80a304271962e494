import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import type { NewChunk } from '../../../stores/collections/chunks/chunk-repository.ts';
import { countFieldTerms } from '../../../stores/search/analysis/field-terms.ts';
import type { ChunkFilter } from '../../../stores/search/chunk-index.ts';
import { mostAllowedRecords } from '../../../stores/search/restriction.ts';
import type { Database } from '../../database/database.ts';
import { insertCollection, insertRecord } from '../../database/testing/insert-rows.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { createChunkRepository } from '../../repositories/records/chunk-repository.ts';
import { prepareChunks, toOwner } from '../../repositories/records/chunk-rows.ts';
import { createRecordRepository } from '../../repositories/records/record-repository.ts';
import { createRecordRefresher } from '../index-renewal.ts';
import { createRefreshMetrics } from '../merge-metrics.ts';
import { emptyChunk } from './full-text-corpus.suite.ts';

const newId = createNewId();
const projectId = emptyChunk.project_id;
const isLang = (value: string): ChunkFilter => ({ type: 'eq', key: 'lang', value });

export const createRefresher = ({ dialect, write, searchIndex }: Database, registry = createMetrics()) =>
  createRecordRefresher({ dialect, write, searchIndex, metrics: createRefreshMetrics(registry) });

/** Tests that the chunks of records with changed metadata are indexed again. */
export function testRecordRefresher(name: string, open: () => Promise<TemporaryDatabase>): void {
  describe(name, () => {
    let temporary: TemporaryDatabase;
    let database: Database;
    before(async () => {
      temporary = await open();
      database = temporary.database;
    });
    after(() => temporary.close());

    async function addRecord(collectionId: string, { chunks, lang }: { chunks: number; lang: string }) {
      const metadata = JSON.stringify({ lang });
      const recordId = await insertRecord(database, collectionId, { metadata });
      const place = { projectId, collectionId, recordId, generation: 1 };
      const added = Array.from({ length: chunks }, (_, ordinal) => newChunk(ordinal));
      const owner = toOwner(recordId, { metadata, title: '', file: null });
      const { insert } = await prepareChunks(database, { place, owner, chunks: added });
      await database.write.transaction().execute(insert);
      return recordId;
    }
    const setLang = (collectionId: string, recordId: string, lang: string) =>
      createRecordRepository(database).change(
        { projectId, collectionId, recordId },
        { metadata: { lang }, updatedAt: 2 },
      );
    const findMarks = async (collectionId: string) =>
      (
        await database.read
          .selectFrom('record')
          .select('metadata_reached')
          .where('collection_id', '=', collectionId)
          .where('metadata_changed', '>', 0)
          .execute()
      ).map((row) => row.metadata_reached);
    /** Counts the chunks with a filter, once the index alone decides: a mark would hide a wrong term. */
    async function count(collectionId: string, lang: string): Promise<number> {
      const question = { collectionId, words: ['red'], limit: 10_000, filter: isLang(lang) };
      return (await database.searchIndex.ask(database.read, question)).length;
    }
    async function refreshAll(refresh: () => Promise<string | undefined>): Promise<number> {
      let steps = 0;
      while ((await refresh()) !== undefined) steps++;
      return steps;
    }

    test('the chunks of records with changed metadata are found by their new terms, and the marks are cleared', async () => {
      const id = await insertCollection(database, { capacity: 100_000 });
      const records: string[] = [];
      for (let n = 0; n <= mostAllowedRecords + 6; n++) records.push(await addRecord(id, { chunks: 2, lang: 'en' }));
      const [kept = '', ...changed] = records;
      for (const record of changed) await setLang(id, record, 'de');
      assert.equal((await findMarks(id)).length, mostAllowedRecords + 6);
      const registry = createMetrics();
      const refresh = createRefresher(database, registry);
      assert.equal(await refreshAll(refresh), 2 * changed.length);
      assert.deepEqual(await findMarks(id), []);
      assert.deepEqual([await count(id, 'en'), await count(id, 'de')], [2, 2 * changed.length]);
      await setLang(id, kept, 'de');
      await refreshAll(refresh);
      assert.deepEqual([await count(id, 'en'), await count(id, 'de')], [0, 2 * records.length]);
      const text = await registry.metrics();
      assert.match(text, new RegExp(`^quartermaster_index_records_refreshed_total ${records.length}$`, 'm'));
      assert.match(text, /^quartermaster_index_records_changed 0$/m);
      assert.deepEqual(await database.searchIndex.check(database.read, id), []);
    });

    test('another process continues where one has ended, and a further change begins again', async () => {
      const id = await insertCollection(database, { capacity: 100_000 });
      const record = await addRecord(id, { chunks: 1300, lang: 'en' });
      await setLang(id, record, 'de');
      assert.equal(await createRefresher(database)(), id);
      assert.equal(await createRefresher(database)(), id);
      assert.match((await findMarks(id))[0] ?? '', /^\[1,999,\d+\]$/);
      assert.equal(await count(id, 'de'), 1300);
      assert.equal(await refreshAll(createRefresher(database)), 2);
      await setLang(id, record, 'fr');
      await createRefresher(database)();
      await setLang(id, record, 'it');
      assert.deepEqual(await findMarks(id), [null]);
      assert.equal(await refreshAll(createRefresher(database)), 4);
      const counts = [];
      for (const lang of ['en', 'de', 'fr', 'it']) counts.push(await count(id, lang));
      assert.deepEqual(counts, [0, 0, 0, 1300]);
      assert.deepEqual(await database.searchIndex.check(database.read, id), []);
    });

    test('steps of several processes beside changes and removals of chunks leave an exact index', async () => {
      const id = await insertCollection(database, { capacity: 100_000 });
      const records = [
        await addRecord(id, { chunks: 600, lang: 'en' }),
        await addRecord(id, { chunks: 600, lang: 'en' }),
      ];
      const chunks = createChunkRepository(database);
      const rows = await database.read.selectFrom('chunk').select('id').where('collection_id', '=', id).execute();
      const change = async () => {
        for (const [place, { id: chunkId }] of rows.slice(0, 60).entries()) {
          const key = { projectId, collectionId: id, chunkId };
          if (place % 3 === 0) await chunks.remove(key);
          else await chunks.change(key, { metadata: { lang: 'own' }, updatedAt: 2 });
        }
      };
      const changeRecords = async () => {
        for (const lang of ['a', 'b', 'c', 'de']) for (const record of records) await setLang(id, record, lang);
      };
      const refreshers = [createRefresher(database), createRefresher(database)];
      const refreshing = refreshers.map(async (refresh) => {
        for (let n = 0; n < 30; n++) await refresh();
      });
      await Promise.all([change(), changeRecords(), ...refreshing]);
      await refreshAll(createRefresher(database));
      assert.deepEqual(await findMarks(id), []);
      const counts = [];
      for (const lang of ['en', 'a', 'b', 'c', 'own', 'de']) counts.push(await count(id, lang));
      assert.deepEqual(counts, [0, 0, 0, 0, 40, 1140]);
      assert.deepEqual(await database.searchIndex.check(database.read, id), []);
    });

    test('a rebuild of the index clears the marks, and its collection is left alone until then', async () => {
      const id = await insertCollection(database, { capacity: 100_000 });
      const record = await addRecord(id, { chunks: 3, lang: 'en' });
      const rebuild = () => database.write.transaction().execute((db) => database.searchIndex.rebuild(db, id));
      await setLang(id, record, 'de');
      assert.equal(await rebuild(), false);
      assert.equal(await createRefresher(database)(), undefined);
      while (!(await rebuild()));
      assert.deepEqual(await findMarks(id), []);
      assert.deepEqual([await count(id, 'en'), await count(id, 'de')], [0, 3]);
    });
  });
}

function newChunk(ordinal: number): NewChunk {
  const content = `red ${ordinal}`;
  const rest = { question: null, answer: null, numTokens: 1, locator: null, createdAt: 1 };
  return { ...rest, id: newId('chunk'), ordinal, content, metadata: {}, words: countFieldTerms({ content }) };
}

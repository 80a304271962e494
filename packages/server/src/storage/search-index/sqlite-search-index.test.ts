import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { isPageMissing } from '../../stores/search/segments/segment-format.ts';
import type { Database } from '../database/database.ts';
import { insertInto, runMany } from '../database/sqlite-insert-many.ts';
import { insertCollection } from '../database/testing/insert-rows.ts';
import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { openDatabase } from '../open-database.ts';
import { createSqliteMergeThread, sqliteFile } from '../sqlite/sqlite-database.ts';
import { openSqliteThread } from '../sqlite/sqlite-thread.ts';
import { divideCache } from './index-caches.ts';
import { testFilteredQuestions } from './testing/filtered-questions.suite.ts';
import { createCorpus } from './testing/full-text-corpus.suite.ts';
import { testRecordRefresher } from './testing/record-refresher.suite.ts';
import { testSegments } from './testing/segments.suite.ts';

const sqlite: Parameters<typeof testSegments>[1] = {
  open: () => openTemporaryDatabase(),
  partsOf: ({ folder }) => ({
    openThread: async () =>
      createSqliteMergeThread(await openSqliteThread(join(folder, sqliteFile), { readOnly: true })),
    insertPages: (db, pages) => runMany(db, insertInto('index_page', ['id', 'data']), pages),
    times: { clock: systemClock, keptMs: 0 },
  }),
};
testSegments('the segments of SQLite', sqlite);
testFilteredQuestions('questions with a filter in SQLite', sqlite);
testRecordRefresher('records with changed metadata in SQLite', sqlite.open);

test('a question reads a page again when the cache of its thread is too small for it', async (t) => {
  const temporary = await openTemporaryDatabase();
  t.after(() => temporary.close());
  const { database, folder } = temporary;
  const id = await insertCollection(database);
  await createCorpus(database, id).add('red apple', 'green pear');
  const logger = createLogger('silent');
  const [roomy, small] = [
    await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger }),
    await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger, searchCacheBytes: 100 }),
  ];
  t.after(() => Promise.all([roomy.close(), small.close()]));
  const ask = async ({ searchIndex, read }: Database) =>
    (await searchIndex.ask(read, { collectionId: id, words: ['red'], limit: 5 })).length;
  assert.deepEqual([await ask(roomy), await ask(small)], [1, 1]);
  await database.write.deleteFrom('index_page').execute();
  assert.equal(await ask(roomy), 1);
  await assert.rejects(ask(small), isPageMissing);
});

test('the caches of a thread together have at most the bytes of the setting', () => {
  const { headerBytes, pageBytes, listBytes, candidateBytes } = divideCache(1003);
  assert.deepEqual([headerBytes, pageBytes, listBytes, candidateBytes], [400, 400, 150, 50]);
});

import { join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { sqliteFile } from '../sqlite/sqlite-database.ts';
import { insertInto, runMany } from '../sqlite/sqlite-insert-many.ts';
import { openSqliteThread } from '../sqlite/sqlite-thread.ts';
import { createSqliteMergeThread } from './sqlite-merge-thread.ts';
import { testSegments } from './testing/segments.suite.ts';

testSegments('the segments of SQLite', {
  open: () => openTemporaryDatabase(),
  partsOf: ({ folder }) => ({
    openThread: async () =>
      createSqliteMergeThread(await openSqliteThread(join(folder, sqliteFile), { readOnly: true })),
    insertPages: (db, pages) => runMany(db, insertInto('index_page', ['id', 'data']), pages),
    times: { clock: systemClock, isShared: false, keptMs: 0 },
  }),
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { openTemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { createSqliteFullText } from '../full-text/sqlite-full-text.ts';
import { sqliteFile } from '../sqlite/sqlite-database.ts';
import { testIndexRebuild } from './testing/index-rebuild.suite.ts';

testIndexRebuild('a rebuild of the search index', {
  open: () => openTemporaryDatabase(),
  old: {
    create: createSqliteFullText().create,
    async countRows({ database }) {
      const counts = await Promise.all(
        Array.from({ length: 16 }, async (_, shard) => {
          const table = sql.id(`full_text_index_${shard}_docsize`);
          const { rows } = await sql<{ n: number }>`select count(*) as n from ${table}`.execute(database.read);
          return rows[0]?.n ?? 0;
        }),
      );
      return counts.reduce((sum, n) => sum + n, 0);
    },
    checkFile({ folder }) {
      // A connection that has read an index of FTS5 before reports stale errors.
      using fresh = new DatabaseSync(join(folder, sqliteFile), { readOnly: true });
      assert.deepEqual(fresh.prepare('pragma integrity_check').all().map(Object.values), [['ok']]);
    },
  },
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { dropOldTables } from '../../full-text/postgres-full-text.ts';
import { createOldPostgresIndex } from '../../full-text/testing/old-postgres-index.ts';
import { createChangingCollection } from '../testing/changing-collection.suite.ts';
import { testIndexRebuild } from '../testing/index-rebuild.suite.ts';

async function hasTables({ database }: TemporaryDatabase): Promise<boolean> {
  const { rows } = await sql`select where to_regclass('posting') is not null`.execute(database.read);
  return rows.length > 0;
}

testIndexRebuild('a rebuild of the search index in PostgreSQL', {
  open: temporaryDatabases.PostgreSQL,
  old: {
    create: createOldPostgresIndex,
    async countRows(temporary) {
      if (!(await hasTables(temporary))) return 0;
      const { rows } = await sql<{ n: number }>`
        select (select count(*) from indexed_chunk) + (select count(*) from posting) as n`.execute(
        temporary.database.read,
      );
      return Number(rows[0]?.n);
    },
    clear: ({ database }) => dropOldTables(database.write),
  },
});

test('the tables of the index of an earlier version go when no collection has one, and while nothing reads them', async (t) => {
  const temporary = await temporaryDatabases.PostgreSQL();
  t.after(() => temporary.close());
  const { read, write } = temporary.database;
  assert.equal(await hasTables(temporary), false, 'a new store has the tables');
  const createIndex = createOldPostgresIndex;
  const first = await createChangingCollection(temporary.database, { seed: 1, createIndex });
  const second = await createChangingCollection(temporary.database, { seed: 2, createIndex });
  await first.add(20);
  await second.add(20);
  while (!(await first.rebuild()));
  assert.equal(await dropOldTables(write), false);
  await second.compare();
  while (!(await second.rebuild()));
  await read.transaction().execute(async (reading) => {
    await sql`select from posting limit 1`.execute(reading);
    assert.equal(await dropOldTables(write), false);
  });
  assert.equal(await hasTables(temporary), true);
  assert.equal(await dropOldTables(write), true);
  assert.equal(await hasTables(temporary), false);
  for (const collection of [first, second]) {
    await collection.add(5);
    await collection.compare();
  }
});

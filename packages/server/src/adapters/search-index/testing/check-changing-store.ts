import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createLogger } from '../../../kernel/log/logger.ts';
import { until } from '../../../kernel/testing/until.ts';
import type { Database } from '../../database/database.ts';
import { openDatabase } from '../../database/open-database.ts';
import { pagesPerSegment } from '../segment-pages.ts';
import { openChangingCollection, type Texts } from './changing-collection.suite.ts';
import { type ChangingStore, sweep } from './changing-store.ts';
import { findWork } from './kill-points.ts';

export interface CheckedStore {
  /** The chunks of the kept collection, as they were found. */
  readonly texts: Texts;
  /** The deleted collections that still could be read. */
  readonly readable: readonly string[];
  readonly comparisons: number;
}

/** Milliseconds after which the background work counts as stuck. It takes about a second. */
const workEndsWithin = 60_000;

/**
 * Opens what a process has left, and compares the indexes with the chunks: at once, and again after the background work
 * and further changes. Then no part of a deleted collection or of an interrupted merge may be left.
 */
export async function checkChangingStore(store: ChangingStore, seed: number): Promise<CheckedStore> {
  const database = await openDatabase({ url: null, dataFolder: store.folder, logger: createLogger('silent') });
  try {
    const collection = await openChangingCollection(database, { collectionId: store.kept, seed });
    const { texts } = collection;
    let comparisons = await compareWithChunks(database, store.kept, seed);
    const { readable, swept } = await findDeleted(database, store);
    for (const id of readable) comparisons += await compareWithChunks(database, id, seed);

    database.startMerging(async () => true);
    const sweeps = swept.map((id) => sweep(database, id));
    for (let n = 0; n < 5; n++) await collection.changeSomehow();
    await Promise.all(sweeps);
    const latest = performance.now() + workEndsWithin;
    await until(async () => {
      assert.ok(performance.now() < latest, 'the background work on the index does not end');
      return !(await findWork(database));
    });

    assert.deepEqual(await database.searchIndex.check(database.read, store.kept), []);
    comparisons += await collection.compare();
    const { chunks } = await database.searchIndex.statistics(database.read, store.kept);
    assert.equal(chunks, collection.texts.size);
    for (const id of readable) comparisons += await compareWithChunks(database, id, seed);
    assert.deepEqual(await findRemains(database, swept), []);
    return { texts, readable, comparisons };
  } finally {
    await database.close();
  }
}

async function compareWithChunks(database: Database, collectionId: string, seed: number): Promise<number> {
  assert.deepEqual(await database.searchIndex.check(database.read, collectionId), []);
  return (await openChangingCollection(database, { collectionId, seed })).compare();
}

/** Finds the collections whose deletion has not begun, and those whose deletion has begun but not ended. */
async function findDeleted({ read }: Database, { deleted }: ChangingStore) {
  const rows = await read.selectFrom('collection').select(['id', 'status']).where('id', 'in', deleted).execute();
  const readable = rows.filter(({ status }) => status === 'ready').map(({ id }) => id);
  const swept = deleted.filter((id) => !readable.includes(id));
  return { readable, swept };
}

/** Finds rows of deleted collections, and pages without a segment or missing from one. */
async function findRemains({ read }: Database, deleted: readonly string[]): Promise<string[]> {
  const remains: string[] = [];
  for (const table of ['chunk', 'record', 'index_segment', 'index_rebuild', 'full_text', 'full_text_place'] as const) {
    const rows = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}
      where collection_id in (select value from json_each(${JSON.stringify(deleted)}))`.execute(read);
    if (rows.rows[0]?.n !== 0) remains.push(`${rows.rows[0]?.n} rows of deleted collections in ${table}`);
  }
  const pages = await sql<{ id: number; pages: number | null; found: number }>`
    select page.segment as id, index_segment.pages as pages, page.found as found
    from (select id / ${sql.lit(pagesPerSegment)} as segment, count(*) as found from index_page group by 1) as page
    left join index_segment on index_segment.id = page.segment
    where index_segment.pages is not page.found`.execute(read);
  for (const { id, pages: expected, found } of pages.rows) {
    remains.push(`segment ${id} has ${found} pages instead of ${expected ?? 'none'}`);
  }
  return remains;
}

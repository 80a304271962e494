import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { until } from '../../../platform/testing/until.ts';
import type { Database } from '../../database/database.ts';
import { findWrongUsages } from '../../repositories/project-usage.ts';
import { pagesPerSegment } from '../segment-pages.ts';
import { findWork, hasHidden, passMinutes } from './background-work.ts';
import { openChangingCollection, type Texts } from './changing-collection.suite.ts';
import { type ChangingStore, openStore, sweep } from './changing-store.ts';

export interface CheckedStore {
  /** The chunks of the kept collection, as they were found. */
  readonly texts: Texts;
  /** The deleted collections that still could be read. */
  readonly readable: readonly string[];
  readonly comparisons: number;
}

/** Milliseconds after which the background work counts as stuck. It takes about a second, or a minute after a late commit. */
const workEndsWithin = 180_000;

/** Maximum number of processes that continue the work one after another. */
const mostProcesses = 5;

/**
 * Opens what a process has left, and compares the indexes with the chunks: at once, and again after the background work
 * and further changes. Then no part of a deleted collection or of an interrupted merge may be left, and the counted bytes
 * must be those of the chunks. Replaced segments expire at once.
 */
export async function checkChangingStore(store: ChangingStore, seed: number): Promise<CheckedStore> {
  let database = await openStore(store);
  try {
    const collection = await openChangingCollection(database, { collectionId: store.kept, seed });
    const { texts } = collection;
    let comparisons = await compareWithChunks(database, store.kept, seed);
    const { readable, swept } = await findDeleted(database, store);
    for (const id of readable) comparisons += await compareWithChunks(database, id, seed);

    await passMinutes(database);
    let began = database.clock.now();
    database.startMaintenance(async () => true);
    const sweeps = swept.map((id) => sweep(database, id));
    for (let n = 0; n < 5; n++) await collection.changeSomehow();
    comparisons += await collection.compare();
    await Promise.all(sweeps);
    await untilDone(database, began);
    for (let processes = 1; await hasHidden(database); processes++) {
      assert.ok(processes < mostProcesses, 'hidden segments are left');
      await database.close();
      database = await openStore(store);
      await passMinutes(database);
      began = database.clock.now();
      database.startMaintenance(async () => true);
      await untilDone(database, began);
    }

    for (const id of [store.kept, ...readable]) comparisons += await compareWithChunks(database, id, seed);
    const { chunks } = await database.searchIndex.statistics(database.read, store.kept);
    assert.equal(chunks, collection.texts.size);
    assert.deepEqual(await findRemains(database, swept), []);
    assert.deepEqual(await findWrongUsages(database.read), []);
    return { texts, readable, comparisons };
  } finally {
    await database.close();
  }
}

async function untilDone(database: Database, began: number): Promise<void> {
  const latest = performance.now() + workEndsWithin;
  await until(async () => {
    const work = await findWork(database, began);
    assert.ok(performance.now() < latest, `the background work on the index does not end: ${work.join(', ')}`);
    return work.length === 0;
  });
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
  for (const table of ['chunk', 'record', 'index_segment', 'index_rebuild'] as const) {
    const rows = await read
      .selectFrom(table)
      .select('collection_id')
      .where('collection_id', 'in', ['', ...deleted])
      .execute();
    if (rows.length > 0) remains.push(`${rows.length} rows of deleted collections in ${table}`);
  }
  const pages = await sql<{ id: number; pages: number | null; found: number }>`
    select page.segment as id, index_segment.pages as pages, page.found as found
    from (select id / ${sql.lit(pagesPerSegment)} as segment, count(*) as found from index_page group by 1) as page
    left join index_segment on index_segment.id = page.segment
    where index_segment.pages is distinct from page.found`.execute(read);
  for (const { id, pages: expected, found } of pages.rows) {
    remains.push(`segment ${id} has ${found} pages instead of ${expected ?? 'none'}`);
  }
  return remains;
}

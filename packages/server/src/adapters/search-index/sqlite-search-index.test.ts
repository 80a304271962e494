import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createMetrics } from '../../kernel/metrics.ts';
import { checkDatabase } from '../database/check-database.ts';
import type { Database } from '../database/database.ts';
import { insertCollection } from '../database/testing/insert-rows.ts';
import { openTemporaryDatabase, type TemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import {
  assertSameRanking,
  createCorpus,
  createRandom,
  rankByHand,
} from '../full-text/testing/full-text-corpus.suite.ts';
import { sweepCollection } from '../repositories/records/sweep-collection.ts';
import { sqliteFile } from '../sqlite/sqlite-database.ts';
import { insertInto, runMany } from '../sqlite/sqlite-insert-many.ts';
import { openSqliteThread } from '../sqlite/sqlite-thread.ts';
import { createIndexMerger, type MergeContext, type MergeThread, mergeSegmentsOf } from './index-merger.ts';
import { createMergeMetrics } from './merge-metrics.ts';
import { createSqliteMergeThread } from './sqlite-merge-thread.ts';

let temporary: TemporaryDatabase;
let database: Database;
before(async () => {
  temporary = await openTemporaryDatabase();
  database = temporary.database;
});
after(() => temporary.close());

async function openThread(): Promise<MergeThread> {
  return createSqliteMergeThread(await openSqliteThread(join(temporary.folder, sqliteFile), { readOnly: true }));
}

interface MergeHooks {
  /** Called after each step of a merge with its number, from 0. */
  readonly onStep?: (step: number) => unknown;
  readonly signal?: AbortSignal;
}

/** Merges a collection as the service does in the background. */
async function merge(collectionId: string, { onStep, signal = new AbortController().signal }: MergeHooks = {}) {
  let step = 0;
  const thread = await openThread();
  const merging: MergeContext = {
    write: database.write,
    signal,
    openThread: async () => ({
      ...thread,
      async next(pages) {
        const found = await thread.next(pages);
        await onStep?.(step++);
        return found;
      },
    }),
    insertPages: (db, pages) => runMany(db, insertInto('index_page', ['id', 'data']), pages),
    metrics,
  };
  try {
    await mergeSegmentsOf(collectionId, merging);
  } finally {
    await thread.close();
  }
  return step;
}

async function countRows(collectionId: string) {
  const { write } = database;
  const segments = await write
    .selectFrom('index_segment')
    .select(['id', 'state', 'pages', 'removals'])
    .where('collection_id', '=', collectionId)
    .execute();
  const pages = await write.selectFrom('index_page').select('id').execute();
  const own = pages.filter(({ id }) => segments.some((segment) => Math.floor(id / 2 ** 22) === segment.id));
  return {
    states: segments.map(({ state }) => state),
    removals: segments.reduce((sum, segment) => sum + segment.removals, 0),
    pages: own.length,
    expectedPages: segments.reduce((sum, segment) => sum + segment.pages, 0),
  };
}

const registry = createMetrics();
const metrics = createMergeMetrics(registry);
const vocabulary = ['red', 'green', 'blue', 'مرحبا', '世界', 'น้ำ', 'snake_case', 'c++', 'x', 'y', 'z'];

async function createFilledCollection(seed: number) {
  const id = await insertCollection(database);
  const corpus = createCorpus(database, id);
  const random = createRandom(seed);
  const live = new Map<number, readonly string[]>();
  const word = () => vocabulary[Math.floor(random() ** 2 * vocabulary.length)] ?? 'red';
  return {
    id,
    corpus,
    live,
    random,
    async add(count: number) {
      const texts = Array.from({ length: count }, () => Array.from({ length: 1 + Math.floor(random() * 9) }, word));
      const seqs = await corpus.addTerms(texts);
      for (const [place, seq] of seqs.entries()) live.set(seq, texts[place] ?? []);
    },
    async remove(count: number) {
      const all = [...live.keys()];
      const seqs = Array.from({ length: count }, () => all[Math.floor(random() * all.length)] ?? -1);
      await corpus.remove(seqs);
      for (const seq of seqs) live.delete(seq);
    },
    async compare() {
      for (const query of [['red'], ['c++', '世界', 'missing'], vocabulary]) {
        assertSameRanking(await corpus.search(query, 10_000), rankByHand(live, query));
      }
    },
  };
}

test('additions, removals and merges in any order give the ranking of the live chunks', async () => {
  const collection = await createFilledCollection(11);
  await collection.add(300);
  for (let round = 0; round < 60; round++) {
    const chance = collection.random();
    if (chance < 0.5) await collection.add(1 + Math.floor(collection.random() * 40));
    else if (chance < 0.8) await collection.remove(1 + Math.floor(collection.random() * 12));
    else await merge(collection.id);
    if (round % 4 === 0) await collection.compare();
  }
  await merge(collection.id);
  await collection.compare();
  const { states, pages, expectedPages } = await countRows(collection.id);
  assert.ok(
    states.every((state) => state === 'live') && states.length < 20,
    `segments after the last merge: ${states.join()}`,
  );
  assert.equal(pages, expectedPages);
});

test('a removal during a merge applies to the merged segment', async () => {
  const collection = await createFilledCollection(12);
  for (let n = 0; n < 10; n++) await collection.add(20);
  const steps = await merge(collection.id, { onStep: () => collection.remove(15) });
  assert.ok(steps > 0, 'nothing was merged');
  await collection.compare();
});

test('questions during a merge have the same answers', async () => {
  const collection = await createFilledCollection(13);
  for (let n = 0; n < 9; n++) await collection.add(200);
  let comparisons = 0;
  await merge(collection.id, {
    onStep: async () => {
      await collection.compare();
      comparisons++;
    },
  });
  assert.ok(comparisons > 0);
  await collection.compare();
});

test('what an interrupted merge has written is never found, and the next start deletes it', async () => {
  const collection = await createFilledCollection(14);
  for (let n = 0; n < 9; n++) await collection.add(20);
  const stopping = new AbortController();
  const interrupted = merge(collection.id, { signal: stopping.signal, onStep: () => stopping.abort() });
  // The signal ends the merge before its next step, or after it in the deletion of the parts.
  await interrupted.catch((error: Error) => assert.equal(error.name, 'AbortError'));
  await database.write
    .insertInto('index_segment')
    .values({ collection_id: collection.id, state: 'building', ...emptySegment })
    .execute();
  await collection.compare();

  const merger = createIndexMerger({
    write: database.write,
    openThread,
    insertPages: (db, pages) => runMany(db, insertInto('index_page', ['id', 'data']), pages),
    metrics,
    rebuildSome: async () => undefined,
    logger: silent,
  });
  merger.start(async () => true);
  await merger.close();
  const left = await countRows(collection.id);
  assert.ok(!left.states.includes('building'), left.states.join());
  await merge(collection.id);
  assert.deepEqual((await countRows(collection.id)).states, ['live']);
  await collection.compare();
});

const emptySegment = { position: 0, chunks: 0, removals: 0, pages: 0, header: new Uint8Array(0) };
const silent = { error: () => {} } as never;

test('a failed merge is tried again, and leaves only what it has replaced', async () => {
  const collection = await createFilledCollection(18);
  for (let n = 0; n < 9; n++) await collection.add(20);
  await assert.rejects(merge(collection.id, { onStep: () => assert.fail('no space') }), /no space/);
  await collection.compare();
  const { states } = await countRows(collection.id);
  assert.deepEqual([states.length, states.at(-1)], [10, 'retired']);

  const merged = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<void>();
  let isBroken = true;
  const merger = createIndexMerger({
    write: database.write,
    openThread,
    async insertPages(db, pages) {
      if (isBroken) throw new Error('no space');
      await runMany(db, insertInto('index_page', ['id', 'data']), pages);
    },
    metrics: { merged: () => merged.resolve(), failed: () => failed.resolve() },
    rebuildSome: async () => undefined,
    logger: silent,
  });
  merger.changed(collection.id);
  merger.start(async () => true);
  await failed.promise;
  isBroken = false;
  // Any later change also brings the collection whose merge failed.
  merger.changed(await insertCollection(database));
  await merged.promise;
  await merger.close();
  await merge(collection.id);
  assert.deepEqual((await countRows(collection.id)).states, ['live']);
  await collection.compare();
});

test('a collection that is deleted during a merge leaves nothing', async () => {
  const collection = await createFilledCollection(15);
  for (let n = 0; n < 9; n++) await collection.add(20);
  const remove = async () => {
    await database.write
      .updateTable('collection')
      .set({ status: 'deleting' })
      .where('id', '=', collection.id)
      .execute();
    await sweepCollection(database, { collectionId: collection.id, limit: 2 }, new AbortController().signal);
  };
  await merge(collection.id, { onStep: (step) => (step === 0 ? remove() : undefined) });
  assert.deepEqual(await countRows(collection.id), { states: [], removals: 0, pages: 0, expectedPages: 0 });
  assert.deepEqual(await collection.corpus.search(['red']), []);
});

test('a check of the database finds a missing page, a changed page, a missing segment and one too many', async () => {
  const collection = await createFilledCollection(17);
  for (let n = 0; n < 3; n++) await collection.add(20);
  await collection.remove(5);
  const { write } = database;
  const live = [...collection.live.keys()];
  await write.deleteFrom('chunk').where('collection_id', '=', collection.id).where('seq', 'not in', live).execute();
  const check = async () =>
    (await checkDatabase(database)).indexes
      .filter(({ collectionId }) => collectionId === collection.id)
      .map(({ finding }) => finding);
  assert.deepEqual(await check(), []);
  const rows = await write.selectFrom('index_segment').selectAll().where('collection_id', '=', collection.id).execute();
  const [first, second] = rows.filter(({ chunks }) => chunks > 0);
  assert.ok(first !== undefined && second !== undefined);

  const page = first.id * 2 ** 22;
  const { data } = await write.selectFrom('index_page').select('data').where('id', '=', page).executeTakeFirstOrThrow();
  await write
    .updateTable('index_page')
    .set({ data: data.subarray(0, -1) })
    .where('id', '=', page)
    .execute();
  assert.match((await check()).join(), /is damaged: /);
  await write.deleteFrom('index_page').where('id', '=', page).execute();
  assert.match((await check()).join(), /is damaged: page 0 of segment \d+ is missing\.$/);
  await write.insertInto('index_page').values({ id: page, data }).execute();
  assert.deepEqual(await check(), []);

  await write.updateTable('index_segment').set({ state: 'retired' }).where('id', '=', first.id).execute();
  assert.match((await check()).join(), /lacks \d+ chunks\.$/);
  await write.updateTable('index_segment').set({ state: 'live' }).where('id', '=', first.id).execute();
  await write
    .deleteFrom('chunk')
    .where('seq', '=', live[0] ?? -1)
    .execute();
  assert.match((await check()).join(), /has 1 chunks that do not exist\.$/);
});

test('when more than a fifth of the chunks are removed, the collection is merged as a whole', async () => {
  const collection = await createFilledCollection(16);
  for (let n = 0; n < 6; n++) await collection.add(500);
  await collection.remove(1200);
  await merge(collection.id);
  const { states, removals } = await countRows(collection.id);
  assert.deepEqual([states, removals], [['live'], 0]);
  assert.match(await registry.metrics(), /quartermaster_index_merges_total [1-9]/);
  await collection.compare();
});

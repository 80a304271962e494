import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { repairIndex } from '../../check/check-database.ts';
import type { Database } from '../../database/database.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { sweepCollection } from '../../repositories/records/lock-collection.ts';
import { createIndexRebuilder } from '../index-rebuilder.ts';
import { createRebuildMetrics } from '../merge-metrics.ts';
import {
  type ChangingCollection,
  createChangingCollection,
  earlierTerm,
  markRebuildDue,
} from './changing-collection.suite.ts';

let temporary: TemporaryDatabase;
let database: Database;

async function readStates(collectionId: string): Promise<string[]> {
  const rows = await database.read
    .selectFrom('index_segment')
    .select('state')
    .where('collection_id', '=', collectionId)
    .where('state', '<>', 'retired')
    .distinct()
    .execute();
  return rows.map(({ state }) => state);
}

/** Changes the collection before each step of a rebuild, and compares its answers with all texts after each step. */
async function rebuildUnderChanges(collection: ChangingCollection): Promise<number> {
  let steps = 0;
  for (let isFinished = false; !isFinished; steps++) {
    for (let n = 0; n < 4; n++) await collection.changeSomehow();
    isFinished = await collection.rebuild();
    await collection.compare();
  }
  return steps;
}

/** Tests the rebuild of the indexes of a database. */
export function testIndexRebuild(name: string, open: () => Promise<TemporaryDatabase>): void {
  describe(name, () => {
    before(async () => {
      temporary = await open();
      database = temporary.database;
    });
    after(() => temporary.close());
    testAnswers();
    testCauses();
    testDeletion();
  });
}

function testAnswers(): void {
  it('leads to the same answers, with changes between all steps', async () => {
    for (let seed = 11; seed <= 13; seed++) {
      const collection = await createChangingCollection(database, { seed });
      await collection.add(1300);
      await collection.compare();
      assert.ok((await rebuildUnderChanges(collection)) >= 5);
      assert.deepEqual(await readStates(collection.id), ['live']);
      for (let n = 0; n < 10; n++) await collection.changeSomehow();
      await collection.compare();
      assert.deepEqual(await database.searchIndex.check(database.read, collection.id), []);
      const statistics = await database.searchIndex.statistics(database.read, collection.id);
      assert.equal(statistics.chunks, collection.texts.size);
    }
  });

  it('that ends between any two messages of a question hides nothing from it', async () => {
    const { read } = database;
    let interruptions = 0;
    for (let nth = 1, isInterrupted = true; isInterrupted; nth++) {
      const collection = await createChangingCollection(database, { seed: 4 });
      await collection.add(50);
      const question = { collectionId: collection.id, words: ['red', 'blue'], limit: 50 };
      const expected = await database.searchIndex.ask(read, question);
      assert.ok(expected.length > 0);
      let messages = 0;
      isInterrupted = false;
      const interrupted = read.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          if (++messages === nth) {
            isInterrupted = true;
            while (!(await collection.rebuild()));
          }
          return result;
        },
      });
      assert.deepEqual(await database.searchIndex.ask(interrupted, question), expected);
      assert.equal((await database.searchIndex.statistics(read, collection.id)).chunks, 50);
      if (isInterrupted) interruptions++;
      else while (!(await collection.rebuild()));
    }
    assert.ok(interruptions > 0);
  });
}

function testCauses(): void {
  it('with a changed analysis is done in the background, while the old index answers', async () => {
    const collection = await createChangingCollection(database, { seed: 21 });
    await collection.add(1100, earlierTerm);
    const asBefore = new Map([...collection.texts].map(([seq, words]) => [seq, [...words, earlierTerm]]));
    const findRebuilt = await createFinder();
    assert.equal(await findRebuilt(), undefined);
    await markRebuildDue(database, collection.id);
    for (let steps = 0; (await collection.ask([earlierTerm])).length > 0; steps++) {
      assert.ok(steps < 10);
      await collection.compare(asBefore);
      assert.equal(await findRebuilt(), collection.id);
    }
    await collection.compare();
    assert.equal(await findRebuilt(), undefined);
  });

  it('repairs an index with a damaged page and an unknown format', async () => {
    const collection = await createChangingCollection(database, { seed: 41 });
    for (let n = 0; n < 3; n++) await collection.add(200);
    await collection.remove(9);
    const segments = await database.read
      .selectFrom('index_segment')
      .select(['id', 'header'])
      .where('collection_id', '=', collection.id)
      .where('chunks', '>', 0)
      .execute();
    const [first, second] = segments;
    assert.ok(first !== undefined && second !== undefined);
    await database.write
      .deleteFrom('index_page')
      .where('id', '=', first.id * 2 ** 22)
      .execute();
    const header = Uint8Array.of(99, ...second.header.subarray(1));
    await database.write.updateTable('index_segment').set({ header }).where('id', '=', second.id).execute();
    await assert.rejects(collection.compare());
    const check = () => database.searchIndex.check(database.read, collection.id);
    assert.match((await check()).join(), /is damaged/);
    await collection.add(20);
    assert.equal(await repairIndex(database, collection.id), true);
    await collection.compare();
    assert.deepEqual(await check(), []);
  });
}

function testDeletion(): void {
  it('ends with the deletion of the collection', async () => {
    const collection = await createChangingCollection(database, { seed: 31 });
    await collection.add(700);
    await collection.rebuild();
    await collection.rebuild();
    const row = database.write.updateTable('collection').set({ status: 'deleting' });
    await row.where('id', '=', collection.id).execute();
    await sweepCollection(database, { collectionId: collection.id, limit: 300 }, new AbortController().signal);
    assert.equal(await collection.rebuild(), true);
    assert.deepEqual(await readStates(collection.id), []);
    assert.equal(await (await createFinder())(), undefined);
  });
}

async function createFinder() {
  const registry = createMetrics();
  return createIndexRebuilder({ ...database, logger: createLogger('silent'), metrics: createRebuildMetrics(registry) });
}

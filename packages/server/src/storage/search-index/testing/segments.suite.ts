import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { leastParts } from '../../../stores/search/segments/choose-merge.ts';
import { checkDatabase } from '../../check/check-database.ts';
import { insertCollection } from '../../database/testing/insert-rows.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { sweepCollection } from '../../repositories/records/lock-collection.ts';
import { createIndexMerger, type IndexMerger } from '../index-merger.ts';
import { createSegmentHarness, emptySegment, type MergeParts, type SegmentHarness } from './segment-harness.ts';

const silent = { error: () => {} } as never;
const rebuildSome = async () => undefined;

/** Reports as many segments as trigger a run before the next periodic one, which comes half a minute later. */
function reportChanges(merger: IndexMerger, collectionId: string): void {
  for (let n = 0; n < leastParts; n++) merger.changed(collectionId);
}

/** Tests the segments of a database: what changes, merges, failures and a check do to them. */
export function testSegments(
  name: string,
  { open, partsOf }: { open: () => Promise<TemporaryDatabase>; partsOf: (temporary: TemporaryDatabase) => MergeParts },
): void {
  describe(name, () => {
    let temporary: TemporaryDatabase;
    let harness: SegmentHarness;
    before(async () => {
      temporary = await open();
      harness = createSegmentHarness(temporary, partsOf(temporary));
    });
    after(() => temporary.close());
    testRandomChanges(() => harness);
    testRemovalDuringMerge(() => harness);
    testInterruptedMerge(() => harness);
    testFailedMerge(() => harness);
    testFullDisk(() => harness);
    testDeletedCollection(() => harness);
    testCheck(() => harness);
    testRetiredPages(() => harness);
  });
}

type Current = () => SegmentHarness;

function testRandomChanges(current: Current): void {
  test('additions, removals and merges in any order give the ranking of the live chunks', async () => {
    const { createFilledCollection, merge, countRows } = current();
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
}

function testRemovalDuringMerge(current: Current): void {
  test('a removal during a merge applies to the merged segment', async () => {
    const { createFilledCollection, merge } = current();
    const collection = await createFilledCollection(12);
    for (let n = 0; n < 10; n++) await collection.add(20);
    const steps = await merge(collection.id, { onStep: () => collection.remove(15) });
    assert.ok(steps > 0, 'nothing was merged');
    await collection.compare();
  });
}

function testInterruptedMerge(current: Current): void {
  test('what an interrupted merge has written is never found, and the next start deletes it', async () => {
    const { createFilledCollection, merge, countRows, database, deps } = current();
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

    const merger = createIndexMerger({ ...deps, rebuildSome, logger: silent });
    merger.start(async () => true);
    await merger.close();
    const left = await countRows(collection.id);
    assert.ok(!left.states.includes('building'), left.states.join());
    await merge(collection.id);
    assert.deepEqual((await countRows(collection.id)).states, ['live']);
    await collection.compare();
  });
}

function testFailedMerge(current: Current): void {
  test('a failed merge is tried again, and leaves only what it has replaced', async () => {
    const { createFilledCollection, merge, countRows, database, deps } = current();
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
      ...deps,
      async insertPages(db, pages) {
        if (isBroken) throw new Error('no space');
        await deps.insertPages(db, pages);
      },
      metrics: { merged: () => merged.resolve(), failed: () => failed.resolve() },
      rebuildSome,
      logger: silent,
    });
    merger.changed(collection.id);
    merger.start(async () => true);
    await failed.promise;
    isBroken = false;
    // A run for later changes also brings the collection whose merge failed.
    reportChanges(merger, await insertCollection(database));
    await merged.promise;
    await merger.close();
    await merge(collection.id);
    assert.deepEqual((await countRows(collection.id)).states, ['live']);
    await collection.compare();
  });
}

function testFullDisk(current: Current): void {
  test('a merge gives up before it stores pages on a nearly full disk, leaves nothing, and continues later', async () => {
    const { createFilledCollection, merge, countRows } = current();
    const collection = await createFilledCollection(19);
    for (let n = 0; n < 9; n++) await collection.add(20);
    const before = await countRows(collection.id);
    // Two answers come before the claims for both states of parts, and each later one before pages are stored.
    for (const { freeAnswers, expected } of [
      { freeAnswers: 0, expected: 0 },
      { freeAnswers: 2, expected: 1 },
    ]) {
      let asked = 0;
      const steps = await merge(collection.id, { hasFreeSpace: async () => asked++ < freeAnswers });
      assert.equal(steps, expected);
      assert.deepEqual(await countRows(collection.id), before);
      await collection.compare();
    }
    assert.ok((await merge(collection.id)) > 0);
    assert.deepEqual((await countRows(collection.id)).states, ['live']);
    await collection.compare();
  });

  test('a merge that has given up for lack of space is tried again in the next run', async () => {
    const { createFilledCollection, countRows, database, deps } = current();
    const collection = await createFilledCollection(20);
    for (let n = 0; n < 9; n++) await collection.add(20);
    const merged = Promise.withResolvers<void>();
    const gaveUp = Promise.withResolvers<void>();
    // The first answer starts the run, two come before the claims, and one before pages are stored.
    const answers = [true, true, true, false, false];
    const hasFreeSpace = async () => {
      const answer = answers.shift() ?? true;
      if (answers.length === 0) gaveUp.resolve();
      return answer;
    };
    const metrics = { merged: () => merged.resolve(), failed: () => assert.fail('a full disk is no failure') };
    const merger = createIndexMerger({ ...deps, metrics, rebuildSome, logger: silent });
    merger.changed(collection.id);
    merger.start(hasFreeSpace);
    await gaveUp.promise;
    // A run for later changes also brings the collection whose merge was given up.
    reportChanges(merger, await insertCollection(database));
    await merged.promise;
    await merger.close();
    assert.ok((await countRows(collection.id)).states.includes('live'));
    await collection.compare();
  });
}

function testDeletedCollection(current: Current): void {
  test('a collection that is deleted during a merge leaves nothing', async () => {
    const { createFilledCollection, merge, countRows, database } = current();
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
}

function testCheck(current: Current): void {
  test('a check of the database finds missing and changed pages, numbers and segments', async () => {
    const { createFilledCollection, database } = current();
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
    const rows = await write
      .selectFrom('index_segment')
      .selectAll()
      .where('collection_id', '=', collection.id)
      .execute();
    const [first, second] = rows.filter(({ chunks }) => chunks > 0);
    assert.ok(first !== undefined && second !== undefined);

    const page = first.id * 2 ** 22;
    const { data } = await write
      .selectFrom('index_page')
      .select('data')
      .where('id', '=', page)
      .executeTakeFirstOrThrow();
    const changed = Buffer.from(data);
    changed[2] = (changed[2] as number) ^ 1;
    for (const damaged of [data.subarray(0, -1), changed]) {
      await write.updateTable('index_page').set({ data: damaged }).where('id', '=', page).execute();
      assert.match((await check()).join(), /is damaged: the checksum of page 0 does not agree with its bytes\.$/);
    }
    await write.deleteFrom('index_page').where('id', '=', page).execute();
    assert.match((await check()).join(), /is damaged: page 0 of segment \d+ is missing\.$/);
    await write.insertInto('index_page').values({ id: page, data }).execute();
    assert.deepEqual(await check(), []);

    for (const column of ['chunks', 'removals', 'pages'] as const) {
      for (const row of rows) {
        for (const value of [row[column] - 1, row[column] + 1]) {
          await write
            .updateTable('index_segment')
            .set({ [column]: value })
            .where('id', '=', row.id)
            .execute();
          assert.match((await check()).join(), /is damaged: the numbers of segment \d+ /, `${column} ${value}`);
        }
        await write
          .updateTable('index_segment')
          .set({ [column]: row[column] })
          .where('id', '=', row.id)
          .execute();
      }
    }
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
}

function testRetiredPages(current: Current): void {
  test('the pages of a replaced segment go with it, whatever number of pages its row has', async () => {
    const { createFilledCollection, merge, countRows, database } = current();
    const collection = await createFilledCollection(21);
    for (let n = 0; n < 9; n++) await collection.add(20);
    await database.write
      .updateTable('index_segment')
      .set({ pages: 0 })
      .where('collection_id', '=', collection.id)
      .execute();
    await merge(collection.id);
    const { states, pages, expectedPages } = await countRows(collection.id);
    assert.deepEqual([states, pages], [['live'], expectedPages]);
  });
}

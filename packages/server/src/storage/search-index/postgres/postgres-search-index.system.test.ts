import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Kysely } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../../../../../test/support/postgres.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { until } from '../../../platform/testing/until.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { openDatabase } from '../../open-database.ts';
import { testFilteredQuestions } from '../testing/filtered-questions.suite.ts';
import { assertSameRanking, rankByHand } from '../testing/full-text-corpus.suite.ts';
import { testRecordRefresher } from '../testing/record-refresher.suite.ts';
import { createSegmentHarness, type MergeParts, vocabulary } from '../testing/segment-harness.ts';
import { testSegments } from '../testing/segments.suite.ts';
import type { ListedQuestion } from './postgres-index-protocol.ts';
import { createIndexThread, createPostgresMergeThread, type IndexThread } from './postgres-index-thread.ts';
import { createPostgresQuestions, type QuestionDeps } from './postgres-questions.ts';
import { insertPages } from './postgres-segment-rows.ts';

const partsOf = ({ database }: Pick<TemporaryDatabase, 'database'>): MergeParts => ({
  insertPages,
  openThread: async () => createPostgresMergeThread(database.read),
  times: { clock: database.clock, keptMs: 0 },
});
testSegments('the segments of PostgreSQL', { open: temporaryDatabases.PostgreSQL, partsOf });
testFilteredQuestions('questions with a filter in PostgreSQL', { open: temporaryDatabases.PostgreSQL, partsOf });
testRecordRefresher('records with changed metadata in PostgreSQL', temporaryDatabases.PostgreSQL);

const minute = 60_000;
const open = (testing: TestDatabase) =>
  openDatabase({
    admission: createAdmission(),
    url: testing.url,
    dataFolder: '/unused',
    logger: createLogger('silent'),
  });

/** Counts the statements that `work` sends. */
async function countStatements(db: Kysely<Tables>, work: (db: Kysely<Tables>) => Promise<unknown>): Promise<number> {
  let count = 0;
  const counted = db.withPlugin({
    transformQuery({ node }) {
      count++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await work(counted);
  return count;
}

describe('the search index of several nodes on PostgreSQL', () => {
  let testing: TestDatabase;
  let first: Database;
  let second: Database;
  const harnessOf = (database: Database, times: Partial<MergeParts['times']> = {}) => {
    const parts = partsOf({ database });
    return createSegmentHarness(
      { database, folder: '', close: async () => {} },
      { ...parts, times: { ...parts.times, ...times } },
    );
  };
  before(async () => {
    testing = await createTestDatabase();
    [first, second] = [await open(testing), await open(testing)];
  });
  after(async () => {
    await Promise.all([first.close(), second.close()]);
    await testing.drop();
  });

  test('a warm question sends two statements, and the first one of a node five', async () => {
    const harness = harnessOf(first);
    const collection = await harness.createFilledCollection(21);
    for (let n = 0; n < 20; n++) await collection.add(60);
    await collection.remove(10);
    await harness.merge(collection.id);
    await collection.add(30);
    const ask = (db: Kysely<Tables>) =>
      second.searchIndex.ask(db, { collectionId: collection.id, words: vocabulary, limit: 5 });
    assert.equal(await countStatements(second.read, ask), 5);
    assert.equal(await countStatements(second.read, ask), 2);
    assert.equal(await countStatements(second.read, ask), 2);
    const ofCollection = first.read.selectFrom('collection').select('project_id').where('id', '=', collection.id);
    const { project_id: projectId } = await ofCollection.executeTakeFirstOrThrow();
    const withChunks = (db: Kysely<Tables>) =>
      second.searchIndex.ask(db, {
        ...{ collectionId: collection.id, projectId },
        ...{ words: vocabulary, limit: 5, withChunks: true },
      });
    assert.equal(await countStatements(second.read, withChunks), 2, 'with the project and the chunks');
    await collection.compare();
  });

  test('a question fetches headers and pages again when the cache of the setting is too small for them', async (t) => {
    const collection = await harnessOf(first).createFilledCollection(24);
    await collection.add(60);
    const logger = createLogger('silent');
    const small = await openDatabase({
      admission: createAdmission(),
      url: testing.url,
      dataFolder: '/unused',
      logger,
      searchCacheBytes: 100,
    });
    t.after(() => small.close());
    const ask = (db: Kysely<Tables>) =>
      small.searchIndex.ask(db, { collectionId: collection.id, words: ['red'], limit: 5 });
    const cold = await countStatements(small.read, ask);
    assert.ok(cold > 2, `${cold} statements`);
    assert.equal(await countStatements(small.read, ask), cold);
  });

  test('a question in a transaction finds its changes, and nothing of them stays after a rollback', async () => {
    const collection = await harnessOf(first).createFilledCollection(22);
    await collection.add(50);
    await collection.compare();
    const [seq = -1] = collection.live.keys();
    const { searchIndex, write, read } = first;
    const question = { collectionId: collection.id, words: vocabulary, limit: 1000 };
    const before = await searchIndex.ask(read, question);
    const undone = write.transaction().execute(async (transaction) => {
      await searchIndex.remove(transaction, collection.id, [seq]);
      const found = await searchIndex.ask(transaction, question);
      assert.ok(!found.some((match) => match.seq === seq));
      assert.deepEqual(await searchIndex.ask(read, question), before);
      throw new Error('undo');
    });
    await assert.rejects(undone, /undo/);
    assert.deepEqual(await searchIndex.ask(read, question), before);
  });

  test('a question whose segments are deleted meanwhile begins again, and one whose segments are kept does not', async (t) => {
    for (const { keptMs, expected } of [
      { keptMs: 0, expected: 2 },
      { keptMs: minute, expected: 1 },
    ]) {
      const harness = harnessOf(first, { keptMs });
      const collection = await harness.createFilledCollection(23);
      for (let n = 0; n < 9; n++) await collection.add(20);
      const thread = createIndexThread('test');
      t.after(() => thread.close());
      const attempts = new Set<number>();
      const merging: IndexThread = {
        ...thread,
        async call(procedure, argument, read) {
          if (isRank(argument)) {
            if (attempts.size === 0) assert.ok((await harness.merge(collection.id)) > 0);
            attempts.add(argument.question);
          }
          return thread.call(procedure, argument, read);
        },
      };
      const questions = createPostgresQuestions({
        admission: createAdmission(),
        threads: only(merging),
        epoch: () => 0,
      });
      const question = { collectionId: collection.id, words: vocabulary, limit: 1000 };
      const found = await questions.ask(first.read, question, vocabulary);
      assertSameRanking(found ?? [], rankByHand(collection.live, vocabulary));
      assert.equal(attempts.size, expected);
      const { states } = await harness.countRows(collection.id);
      assert.equal(states.filter((state) => state === 'retired').length, keptMs === 0 ? 0 : 9);
    }
  });

  test('a question about a collection with a damaged segment fails instead of repeating forever', async () => {
    const collection = await harnessOf(first).createFilledCollection(24);
    await collection.add(50);
    const { read, write, searchIndex } = first;
    const segment = await write
      .selectFrom('index_segment')
      .select('id')
      .where('collection_id', '=', collection.id)
      .executeTakeFirstOrThrow();
    await write
      .deleteFrom('index_page')
      .where('id', '=', segment.id * 2 ** 22)
      .execute();
    const ask = searchIndex.ask(read, { collectionId: collection.id, words: ['red'], limit: 1 });
    await assert.rejects(ask, { name: 'DamagedSegment' });
  });

  test('at most four questions fetch pages at the same time', async (t) => {
    const collection = await harnessOf(first).createFilledCollection(26);
    for (let n = 0; n < 3; n++) await collection.add(50);
    const thread = createIndexThread('test');
    t.after(() => thread.close());
    const fetching = new Set<number>();
    let most = 0;
    const counted: IndexThread = {
      ...thread,
      async call(procedure, argument, read) {
        const isFetched = isRank(argument) && argument.fetched !== null;
        if (isFetched) fetching.add(argument.question);
        most = Math.max(most, fetching.size);
        // Otherwise the first question may end before the fourth one fetches.
        if (isFetched) await until(() => most >= 4);
        const result = await thread.call(procedure, argument, read);
        if (typeof argument === 'number') fetching.delete(argument);
        return result;
      },
    };
    const questions = createPostgresQuestions({ admission: createAdmission(), threads: only(counted), epoch: () => 0 });
    const asked = Array.from({ length: 8 }, () =>
      questions.ask(first.read, { collectionId: collection.id, words: vocabulary, limit: 10 }, vocabulary),
    );
    const answers = await Promise.all(asked);
    for (const found of answers) assert.equal(found?.length, 10);
    assert.equal(most, 4);
    assert.equal(fetching.size, 0);
  });

  test('after a change of the server, a question no longer uses the cached segments', async (t) => {
    const collection = await harnessOf(first).createFilledCollection(25);
    await collection.add(50);
    const thread = createIndexThread('test');
    t.after(() => thread.close());
    let epoch = 0;
    const questions = createPostgresQuestions({
      admission: createAdmission(),
      threads: only(thread),
      epoch: () => epoch,
    });
    const question = { collectionId: collection.id, words: vocabulary, limit: 1000 };
    const ask = (db: Kysely<Tables>) => questions.ask(db, question, vocabulary);
    await ask(first.read);
    assert.equal(await countStatements(first.read, ask), 2);
    epoch = 1;
    // The lists of a small segment are in its dictionary.
    assert.equal(await countStatements(first.read, ask), 4);
  });
});

function only(thread: IndexThread): QuestionDeps['threads'] {
  return { use: (work) => work(thread) };
}

function isRank(argument: unknown): argument is ListedQuestion {
  return typeof argument === 'object' && argument !== null && 'words' in argument && 'question' in argument;
}

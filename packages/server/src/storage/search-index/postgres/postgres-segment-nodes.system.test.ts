import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Transaction } from 'kysely';
import { createTestDatabase, type TestDatabase } from '../../../../../../test/support/postgres.ts';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { until } from '../../../platform/testing/until.ts';
import { tokenize } from '../../../stores/search/analysis/tokenizer.ts';
import { leastParts } from '../../../stores/search/segments/choose-merge.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { insertCollection } from '../../database/testing/insert-rows.ts';
import { openDatabase } from '../../open-database.ts';
import { holdOffRebuild } from '../index-locks.ts';
import { createIndexMerger, mergeSegmentsOf } from '../index-merger.ts';
import type { SegmentTimes } from '../plan-merge.ts';
import { assertSameRanking, createRandom, emptyChunk, rankByHand } from '../testing/full-text-corpus.suite.ts';
import { createSegmentHarness, vocabulary } from '../testing/segment-harness.ts';
import { createPostgresMergeThread } from './postgres-index-thread.ts';
import { insertPages } from './postgres-segment-rows.ts';

let testing: TestDatabase;
let nodes: readonly [Database, Database];
before(async () => {
  testing = await createTestDatabase();
  const open = () =>
    openDatabase({
      admission: createAdmission(),
      url: testing.url,
      dataFolder: '/unused',
      logger: createLogger('silent'),
    });
  nodes = [await open(), await open()];
});
after(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await testing.drop();
});

const minute = 60_000;

/** @param ahead milliseconds by which the clock of the node is ahead */
function partsOf(database: Database, { keptMs = 0, ahead = 0 }: { keptMs?: number; ahead?: number } = {}) {
  const clock = { now: () => database.clock.now() + ahead };
  const times: SegmentTimes = { clock, keptMs };
  return { insertPages, openThread: async () => createPostgresMergeThread(database.read), times, holdOffRebuild };
}
const harnessOf = (database: Database, options = {}) =>
  createSegmentHarness({ database, folder: '', close: async () => {} }, partsOf(database, options));

test('a node leaves a collection alone while another one merges it, and takes over a minute after its last pages', async () => {
  const one = harnessOf(nodes[0]);
  const collection = await one.createFilledCollection(32);
  for (let n = 0; n < 9; n++) await collection.add(20);
  const steps: number[] = [];
  const onStep = async () => {
    for (const ahead of [0, minute / 2, 2 * minute])
      steps.push(await harnessOf(nodes[1], { ahead }).merge(collection.id));
  };
  await one.merge(collection.id, { onStep });
  assert.deepEqual(steps.slice(0, 2), [0, 0]);
  assert.ok(steps[2] !== undefined && steps[2] > 0);
  await one.merge(collection.id);
  assert.deepEqual((await one.countRows(collection.id)).states, ['live']);
  await collection.compare();
});

test('a merge whose parts another node has replaced and deleted before they are read ends without an error', async (t) => {
  const one = harnessOf(nodes[0]);
  const collection = await one.createFilledCollection(34);
  for (let n = 0; n < 9; n++) await collection.add(20);
  const thread = createPostgresMergeThread(nodes[0].read);
  t.after(() => thread.close());
  const openThread = async () => {
    assert.ok((await harnessOf(nodes[1], { ahead: 2 * minute }).merge(collection.id)) > 0);
    return thread;
  };
  const merging = { ...one.deps, openThread, hasFreeSpace: async () => true, signal: t.signal };
  assert.equal(await mergeSegmentsOf(collection.id, merging), 'done');
  await collection.compare();
});

test('replaced segments are deleted a minute later, by whichever node', async () => {
  const one = harnessOf(nodes[0], { keptMs: minute });
  const collection = await one.createFilledCollection(33);
  for (let n = 0; n < 9; n++) await collection.add(20);
  await one.merge(collection.id);
  const states = async () => (await one.countRows(collection.id)).states.toSorted();
  assert.deepEqual(await states(), ['live', ...Array(9).fill('retired')]);
  await harnessOf(nodes[1], { ahead: minute - 5_000 }).merge(collection.id);
  assert.equal((await states()).length, 10);
  const deps = harnessOf(nodes[1], { ahead: minute + 1 }).deps;
  const merger = createIndexMerger({ ...deps, rebuildSome: async () => undefined, logger: createLogger('silent') });
  merger.start(async () => true);
  await merger.close();
  await harnessOf(nodes[1], { ahead: minute + 1 }).merge(collection.id);
  assert.deepEqual(await states(), ['live']);
  await collection.compare();
});

test('segments whose transaction ends after a merge has looked for them are merged later', async () => {
  let ahead = 0;
  const { deps, ...one } = harnessOf(nodes[0]);
  const clock = { now: () => nodes[0].clock.now() + ahead };
  const [late, other] = [await insertCollection(nodes[0]), await insertCollection(nodes[0])];
  let looks = 0;
  const merger = createIndexMerger({
    ...deps,
    times: { ...deps.times, clock },
    rebuildSome: async () => void looks++,
    logger: createLogger('silent'),
  });
  const states = async () => (await one.countRows(late)).states;
  /** Reports as many segments as trigger a merge before the next periodic one. */
  const reportChanges = (collectionId: string) => {
    for (let n = 0; n < leastParts; n++) merger.changed(collectionId);
  };
  merger.start(async () => true);
  await nodes[0].write.transaction().execute(async (transaction) => {
    for (let seq = 1; seq <= 9; seq++) await nodes[0].searchIndex.add(transaction, late, [{ seq, words: 'red' }]);
    const before = looks;
    reportChanges(late);
    await until(() => looks >= before + 2);
  });
  assert.deepEqual(await states(), Array(9).fill('live'));
  ahead = minute / 2;
  reportChanges(other);
  await until(async () => (await states()).join() === 'live');
  await merger.close();
});

const newId = createNewId();
const randomOf = createRandom(41);
/** Words without signs that the analysis leaves as they are, so that a rebuild finds the same terms. */
const plainWords = vocabulary.filter((word) => /^\p{L}+$/u.test(word) && tokenize(word).join(' ') === word);
const randomWords = () =>
  Array.from(
    { length: 1 + Math.floor(randomOf() * 8) },
    () => plainWords[Math.floor(randomOf() * plainWords.length)] ?? 'red',
  );

/** Adds, changes and removes chunks as the repositories do, and notes what is certainly in the index, and what is not. */
function createWriter(node: Database, collectionId: string, shared: Shared) {
  const { write, searchIndex } = node;
  const inTransaction = (work: (transaction: Transaction<Tables>) => Promise<unknown>) =>
    write.transaction().execute(work);
  return {
    async add(): Promise<void> {
      const texts = Array.from({ length: 1 + Math.floor(randomOf() * 12) }, randomWords);
      let seqs: number[] = [];
      await inTransaction(async (transaction) => {
        const rows = texts.map((_, ordinal) => ({
          ...{ ...emptyChunk, id: newId('chunk'), collection_id: collectionId },
          ...{ record_id: null, generation: 0, ordinal, content: (texts[ordinal] ?? []).join(' ') },
        }));
        const inserted = await transaction.insertInto('chunk').values(rows).returning(['seq', 'ordinal']).execute();
        seqs = inserted.sort((a, b) => a.ordinal - b.ordinal).map(({ seq }) => seq);
        const indexed = seqs.map((seq, place) => ({ seq, words: (texts[place] ?? []).join(' ') }));
        await searchIndex.add(transaction, collectionId, indexed);
      });
      for (const [place, seq] of seqs.entries()) shared.live.set(seq, texts[place] ?? []);
    },
    async remove(seq: number): Promise<void> {
      let isRemoved = false;
      shared.live.delete(seq);
      await inTransaction(async (transaction) => {
        const { numDeletedRows } = await transaction.deleteFrom('chunk').where('seq', '=', seq).executeTakeFirst();
        isRemoved = numDeletedRows > 0n;
        if (isRemoved) await searchIndex.remove(transaction, collectionId, [seq]);
      });
      if (isRemoved) shared.removed.add(seq);
    },
    async change(seq: number): Promise<void> {
      const words = randomWords();
      await inTransaction(async (transaction) => {
        const locked = await transaction
          .updateTable('chunk')
          .set({ content: words.join(' ') })
          .where('seq', '=', seq)
          .executeTakeFirst();
        if (locked.numUpdatedRows === 0n) return;
        await searchIndex.remove(transaction, collectionId, [seq]);
        await searchIndex.add(transaction, collectionId, [{ seq, words: words.join(' ') }]);
      });
    },
  };
}

interface Shared {
  /** Chunks whose addition has been acknowledged and whose removal has not begun. */
  readonly live: Map<number, readonly string[]>;
  /** Chunks whose removal has been acknowledged. */
  readonly removed: Set<number>;
}

interface ChangedTogether {
  readonly collectionId: string;
  /** Does a step of a rebuild beside the changes. */
  readonly rebuild?: (node: Database) => Promise<unknown>;
}

/**
 * Two nodes add, change, remove, merge, rebuild and ask at the same time. Each question must find all chunks that are
 * certainly in the index, and none that is certainly not.
 * @returns the number of questions
 */
async function changeTogether({ collectionId, rebuild }: ChangedTogether): Promise<number> {
  const shared: Shared = { live: new Map(), removed: new Set() };
  const writers = [0, 1, 0, 1].map((n) => createWriter(nodes[n] as Database, collectionId, shared));
  const pick = () => [...shared.live.keys()][Math.floor(randomOf() * shared.live.size)] ?? -1;
  let isDone = false;
  let questions = 0;
  async function writeMuch(writer: ReturnType<typeof createWriter>) {
    for (let round = 0; round < 80; round++) {
      const chance = randomOf();
      if (chance < 0.55 || shared.live.size < 20) await writer.add();
      else if (chance < 0.8) await writer.remove(pick());
      else await writer.change(pick());
    }
  }
  async function mergeMuch(node: Database) {
    const harness = harnessOf(node);
    while (!isDone) await harness.merge(collectionId);
  }
  async function rebuildMuch(node: Database) {
    // Most rebuilds take several steps, beside which the writers change the collection.
    await until(() => isDone || shared.live.size >= 400);
    while (!isDone && rebuild !== undefined) await rebuild(node);
  }
  async function askMuch(node: Database) {
    for (; !isDone; questions++) {
      const sure = new Set(shared.live.keys());
      const gone = new Set(shared.removed);
      const found = await node.searchIndex.ask(node.read, { collectionId, words: plainWords, limit: 100_000 });
      const seqs = new Set(found.map(({ seq }) => seq));
      for (const seq of gone) assert.ok(!seqs.has(seq), `the removed chunk ${seq} was found`);
      for (const seq of sure) assert.ok(seqs.has(seq) || !shared.live.has(seq), `the chunk ${seq} is missing`);
    }
  }
  const background = [...nodes.map(mergeMuch), ...nodes.map(rebuildMuch), ...nodes.map(askMuch)];
  await Promise.all(writers.map(writeMuch)).finally(() => {
    isDone = true;
  });
  await Promise.all(background);
  await compareWithRows(collectionId);
  return questions;
}

async function compareWithRows(collectionId: string): Promise<void> {
  const rows = await nodes[0].read
    .selectFrom('chunk')
    .select(['seq', 'content'])
    .where('collection_id', '=', collectionId)
    .execute();
  const texts = new Map(rows.map(({ seq, content }) => [seq, content.split(' ')]));
  for (const node of nodes) {
    const found = await node.searchIndex.ask(node.read, { collectionId, words: plainWords, limit: 100_000 });
    assertSameRanking(found, rankByHand(texts, plainWords));
    assert.deepEqual(await node.searchIndex.check(node.read, collectionId), []);
  }
}

const rebuildOnce = (collectionId: string) => (node: Database) =>
  node.write.transaction().execute((db) => node.searchIndex.rebuild(db, collectionId));

test('two nodes that add, change, remove, merge and ask at the same time miss no chunk and find no removed one', async () => {
  const questions = await changeTogether({ collectionId: await insertCollection(nodes[0]) });
  assert.ok(questions > 10, `only ${questions} questions were asked`);
});

test('the same is true while both nodes rebuild the index again and again', async (t) => {
  const collectionId = await insertCollection(nodes[0]);
  let rebuilds = 0;
  const rebuild = rebuildOnce(collectionId);
  const questions = await changeTogether({
    collectionId,
    rebuild: async (node) => {
      if (await rebuild(node)) rebuilds++;
    },
  });
  assert.ok(questions > 10 && rebuilds > 0, `${questions} questions, ${rebuilds} rebuilds`);
  t.diagnostic(`${questions} questions, ${rebuilds} rebuilds`);
  while (!(await rebuild(nodes[0])));
  await compareWithRows(collectionId);
});

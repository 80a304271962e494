import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addCollection,
  claim,
  claimAt,
  keyOf,
  newChunk,
  type OpenedRepositories,
  publish,
  recordOf,
  start,
} from '../../collections/testing/fixtures.suite.ts';
import type { NewVector, VectorSetKey } from '../vector-repository.ts';
import { firstSet, replaceVectors } from './vector-repository.suite.ts';

const toVector = (seq: number): NewVector => ({ seq, updatedAt: start, embedded: Float32Array.of(1) });
const toFailure = (seq: number, retryAt: number | null): NewVector => ({
  seq,
  updatedAt: start,
  embedded: { reason: 'The model refuses the text.', retryAt, failures: 1 },
});

/** Tests the stored counts of every vector repository. `recount` counts the vectors themselves. */
export function testVectorCounts(
  open: () => OpenedRepositories & {
    recount(key: VectorSetKey): Promise<{ stored: object; counted: object } | undefined>;
  },
): void {
  async function openCounts() {
    const repositories = open();
    const collection = await addCollection(repositories);
    const { id: collectionId, projectId } = collection;
    const model = `model ${collectionId}`;
    await repositories.vectors.adopt(collectionId, model);
    async function liveSet() {
      const live = await repositories.vectors.find(collectionId);
      assert.ok(live);
      return live;
    }
    return {
      ...{ ...repositories, collection, collectionId, projectId, model, other: `other ${collectionId}` },
      seqs: async () =>
        (await repositories.vectors.missing(firstSet(collectionId), { after: '', limit: 100, now: start })).map(
          ({ seq }) => seq,
        ),
      /** Checks the stored counts: embedded and refused. */
      async assertCounts(embedded: number, refused: number) {
        assert.deepEqual(await repositories.recount(await liveSet()), {
          stored: { embedded, refused },
          counted: { embedded, refused },
        });
        const { numEmbedded, numRefused } =
          (await repositories.collections.find(projectId, collectionId))?.vectors ?? {};
        assert.deepEqual([numEmbedded, numRefused], [embedded, refused]);
      },
    };
  }

  test('a text is counted as embedded or refused, and neither while it waits for its next attempt', async () => {
    const { vectors, chunks, projectId, collectionId, model, seqs, assertCounts } = await openCounts();
    for (const content of ['a', 'b', 'c']) await chunks.add(projectId, collectionId, newChunk(content));
    const [a = 0, b = 0, c = 0] = await seqs();
    await assertCounts(0, 0);
    await vectors.save(firstSet(collectionId), model, [toVector(a), toFailure(b, null), toFailure(c, start + 1)]);
    await assertCounts(1, 1);
    await vectors.save(firstSet(collectionId), model, [toVector(a), toVector(b), toFailure(c, null)]);
    await assertCounts(2, 1);
    await vectors.save(firstSet(collectionId), model, [{ ...toVector(a), updatedAt: start + 1 }]);
    await assertCounts(2, 1);
  });

  test('a changed or deleted chunk is not counted any more, and another model begins with zero', async () => {
    const { vectors, chunks, projectId, collectionId, model, other, seqs, assertCounts } = await openCounts();
    const added = ['a', 'b', 'c'].map((content) => newChunk(content));
    for (const chunk of added) await chunks.add(projectId, collectionId, chunk);
    const [a = 0, b = 0, c = 0] = await seqs();
    await vectors.save(firstSet(collectionId), model, [toVector(a), toVector(b), toFailure(c, null)]);
    const key = (place: number) => ({ projectId, collectionId, chunkId: added[place]?.id ?? '' });
    await chunks.change(key(0), { text: { content: 'A', numTokens: 1 }, updatedAt: start + 1 });
    await assertCounts(1, 1);
    await chunks.remove(key(2));
    await assertCounts(1, 0);
    await replaceVectors(vectors, collectionId, other);
    await assertCounts(0, 0);
    await chunks.remove(key(1));
    await assertCounts(0, 0);
    await vectors.save({ collectionId, slot: 1 }, other, [{ ...toVector(a), updatedAt: start + 1 }]);
    await assertCounts(1, 0);
  });

  test('the sweep of replaced or deleted chunks subtracts them from the counts', async () => {
    const opened = await openCounts();
    const { vectors, jobs, records, collection, collectionId, model, seqs, assertCounts } = opened;
    const record = await recordOf(opened, collection, ['a', 'b', 'c']);
    await vectors.save(firstSet(collectionId), model, (await seqs()).map(toVector));
    await assertCounts(3, 0);
    const sweep = async () => {
      const job = await claim(opened, start + 20, { kind: 'sweep' });
      while ((await jobs.sweep(job, { limit: 2, leaseUntil: start + 99_999 })) === 'more');
    };
    const source = { type: 'text', title: '', content: 'other', fileId: null, url: null, textSplitter: null } as const;
    const remake = { source, deadlineAt: start + 1_000_000 };
    assert.equal(await records.change(keyOf(record), { remake, updatedAt: start + 6 }), true);
    await publish(opened, await claim(opened, start + 7), ['d', 'e']);
    await sweep();
    await assertCounts(0, 0);
    await vectors.save(firstSet(collectionId), model, (await seqs()).map(toVector));
    await assertCounts(2, 0);
    await records.markDeleting(keyOf(record), start + 10);
    await sweep();
    await assertCounts(0, 0);
  });

  test('tokens are added to those of the collection, also without a vector', async () => {
    const { vectors, collections, projectId, collectionId, model, other } = await openCounts();
    const tokens = async () => (await collections.find(projectId, collectionId))?.vectors?.numTokens;
    await vectors.save(firstSet(collectionId), model, [], 7);
    await vectors.save(firstSet(collectionId), model, [], 5);
    await vectors.save(firstSet(collectionId), other, [], 1);
    assert.equal(await tokens(), 12);
    await replaceVectors(vectors, collectionId, other);
    assert.equal(await tokens(), 12);
  });

  test('the last error of a collection is forgotten after a success, unless a text still lacks its vector', async () => {
    const { vectors, chunks, collections, projectId, collectionId, model, seqs } = await openCounts();
    await chunks.add(projectId, collectionId, newChunk('a'));
    const lastError = async () => (await collections.find(projectId, collectionId))?.vectors?.lastError;
    const failure = { reason: 'status 500', at: start, retryAt: start };
    const end = async (how: Parameters<typeof vectors.endBackfill>[1]) => {
      const { token, now, leaseUntil } = claimAt(start);
      const job = await vectors.claimBackfill({ kind: 'embed', afterProject: '', model, token, now, leaseUntil });
      assert.ok(job);
      await vectors.endBackfill(job, how);
    };
    await end({ kind: 'deferred', runAfter: start, failure });
    assert.deepEqual(await lastError(), failure);
    await end({ kind: 'continued', reached: '', runAfter: start });
    assert.deepEqual(await lastError(), failure);
    await end({ kind: 'continued', reached: '', runAfter: start, failure: null });
    assert.equal(await lastError(), null);
    const [seq = 0] = await seqs();
    await vectors.save(firstSet(collectionId), model, [toFailure(seq, null)]);
    const ofText = { ...failure, reason: 'refused', retryAt: null };
    await end({ kind: 'continued', reached: '', runAfter: start, failure: ofText });
    await end({ kind: 'continued', reached: '', runAfter: start, failure: null });
    assert.deepEqual(await lastError(), ofText);
    await vectors.save(firstSet(collectionId), model, [toVector(seq)]);
    await end({ kind: 'done', failure: null });
    assert.equal(await lastError(), null);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addCollection, newChunk, type OpenedRepositories, start } from '../../collections/testing/fixtures.suite.ts';
import type { VectorSpace } from '../embedding/vector-index.ts';
import type { BackfillJob, NewVector, VectorRepository } from '../vector-repository.ts';
import { readAll } from './read-all.suite.ts';

const lease = { kind: 'embed', afterProject: '', token: 'a', now: start, leaseUntil: start + 10 } as const;

/** Tests that vectors of another model are built beside those in use. */
export function testVectorSets(open: () => OpenedRepositories): void {
  async function openSets() {
    const repositories = open();
    const { vectors } = repositories;
    const collection = await addCollection(repositories);
    const { projectId, id: collectionId } = collection;
    for (const content of ['a', 'b']) await repositories.chunks.add(projectId, collectionId, newChunk(content));
    // Other tests leave collections of other models in the same database.
    const [one, two, three] = ['one', 'two', 'three'].map((name) => `${name} ${collectionId}`) as [
      string,
      string,
      string,
    ];
    const texts: string[] = [];

    /** Embeds what the set lacks, and ends the claim. */
    async function embed(model: string, value: number, job?: BackfillJob) {
      const held = job ?? (await vectors.claimBackfill({ ...lease, model }));
      assert.equal(held?.collectionId, collectionId, `${model} waits for the backfill`);
      const rows = await vectors.missing(held, { after: '', limit: 9, now: start });
      texts.push(...rows.map(({ text }) => `${value} ${text}`));
      const created = rows.map(
        ({ seq, updatedAt }): NewVector => ({ seq, updatedAt, embedded: Float32Array.of(value) }),
      );
      if (created.length > 0) assert.deepEqual(await vectors.save(held, model, created), { kind: 'saved' });
      return vectors.endBackfill(held, { kind: 'done' });
    }
    await vectors.adopt(collectionId, one);
    assert.equal(await embed(one, 1), 'ended');
    /** Returns the model that answers and the values of its vectors. */
    async function live() {
      const space = await vectors.find(collectionId);
      assert.ok(space);
      return [space.model, await valuesOf(vectors, space)];
    }
    async function roles() {
      const found = await repositories.collections.find(projectId, collectionId);
      return [found?.vectors, found?.otherVectors].map((set) => set && `${set.role} ${set.model.split(' ')[0]}`);
    }
    const add = (content: string) => repositories.chunks.add(projectId, collectionId, newChunk(content));
    return { ...repositories, projectId, collectionId, one, two, three, texts, embed, live, roles, add };
  }

  /** The values of the vectors of a set, in the order of the changes. */
  const valuesOf = async (vectors: VectorRepository, space: VectorSpace) =>
    (await readAll(vectors, space)).map(([, value]) => value);

  test('the vectors in use stay unchanged until those of another model are complete, and are kept then', async () => {
    const { vectors, collectionId, one, two, embed, live, roles, texts } = await openSets();
    await vectors.prepare(collectionId, two);
    assert.deepEqual(await roles(), ['live one', 'next two']);
    const job = await vectors.claimBackfill({ ...lease, model: two });
    assert.ok(job);
    const [first] = await vectors.missing(job, { after: '', limit: 1, now: start });
    assert.ok(first);
    await vectors.save(job, two, [{ seq: first.seq, updatedAt: first.updatedAt, embedded: Float32Array.of(2) }]);
    assert.deepEqual(await live(), [one, [1, 1]]);
    assert.equal(await embed(two, 2, job), 'swapped');
    assert.deepEqual(
      [await live(), await roles()],
      [
        [two, [2, 2]],
        ['live two', 'kept one'],
      ],
    );
    assert.deepEqual(texts, ['1 a', '1 b', '2 b']);
  });

  test('the vectors of a former model are replaced once, unless the collection has a second set already', async () => {
    const { vectors, collectionId, one, two, three, embed, live, roles } = await openSets();
    await vectors.replaceAll('another', two);
    assert.deepEqual(await roles(), ['live one', null]);
    await vectors.replaceAll(one, two);
    assert.equal(await embed(two, 2), 'swapped');
    assert.deepEqual(await live(), [two, [2, 2]]);
    // Who goes back to the former model keeps it.
    await vectors.prepare(collectionId, one);
    assert.equal(await embed(one, 1), 'swapped');
    await vectors.replaceAll(one, two);
    assert.deepEqual(await roles(), ['live one', 'kept two']);
    await vectors.prepare(collectionId, three);
    await vectors.replaceAll(one, two);
    assert.deepEqual(await roles(), ['live one', 'next three']);
  });

  test('the chunks before the model was assigned are embedded, even if another one is added before the first walk', async () => {
    const repositories = open();
    const { vectors } = repositories;
    const { projectId, id: collectionId } = await addCollection(repositories);
    await repositories.chunks.add(projectId, collectionId, newChunk('first'));
    const model = `first ${collectionId}`;
    await vectors.adopt(collectionId, model);
    await repositories.chunks.add(projectId, collectionId, newChunk('second'));
    const job = await vectors.claimBackfill({ ...lease, model });
    assert.ok(job);
    const rows = await vectors.missing(job, { after: job.reached, limit: 9, now: start });
    assert.deepEqual(
      rows.map(({ text }) => text),
      ['first', 'second'],
    );
  });

  test('a paused collection is not embedded, and continues where it stopped', async () => {
    const { vectors, collections, projectId, collectionId, one, add, embed, live } = await openSets();
    await add('c');
    const pause = (embeddingPaused: boolean) =>
      collections.change(projectId, collectionId, { embeddingPaused, updatedAt: start });
    assert.equal(await pause(true), true);
    assert.equal(await vectors.claimBackfill({ ...lease, model: one }), undefined);
    assert.equal((await collections.find(projectId, collectionId))?.embeddingPaused, true);
    assert.equal(await pause(false), true);
    assert.equal(await embed(one, 3), 'ended');
    assert.deepEqual(await live(), [one, [1, 1, 3]]);
  });

  test('the way back embeds only what was added since', async () => {
    const { vectors, collectionId, one, two, embed, live, add, roles, texts } = await openSets();
    await vectors.prepare(collectionId, two);
    await embed(two, 2);
    await add('c');
    assert.equal(await vectors.claimBackfill({ ...lease, model: one }), undefined, 'a kept set is not embedded');
    await embed(two, 2);
    texts.length = 0;
    await vectors.prepare(collectionId, one);
    assert.deepEqual(await live(), [two, [2, 2, 2]]);
    assert.equal(await embed(one, 1), 'swapped');
    assert.deepEqual([await live(), texts], [[one, [1, 1, 1]], ['1 c']]);
    assert.deepEqual(await roles(), ['live one', 'kept two']);
    await vectors.prepare(collectionId, two);
    texts.length = 0;
    assert.deepEqual([await embed(two, 2), texts], ['swapped', []]);
  });

  test('a chunk that is added while vectors are built delays the exchange, and both sets get its vector', async () => {
    const { vectors, collectionId, one, two, embed, live, add, roles } = await openSets();
    await vectors.prepare(collectionId, two);
    const job = await vectors.claimBackfill({ ...lease, model: two });
    assert.ok(job);
    await add('late');
    assert.equal(await vectors.endBackfill(job, { kind: 'done' }), 'ended');
    assert.deepEqual(await roles(), ['live one', 'next two']);
    assert.equal(await embed(one, 1), 'ended');
    assert.deepEqual(await live(), [one, [1, 1, 1]]);
    assert.equal(await embed(two, 2), 'swapped');
    assert.deepEqual(await live(), [two, [2, 2, 2]]);
  });

  test('a chunk whose text changes loses the vectors of both sets, and a deleted one, too', async () => {
    const { vectors, chunks, projectId, collectionId, two, embed, live } = await openSets();
    const former = await vectors.find(collectionId);
    assert.ok(former);
    await vectors.prepare(collectionId, two);
    await embed(two, 2);
    const [a, b] = (await chunks.list({ projectId, collectionId }, { order: 'asc' }))?.items ?? [];
    assert.ok(a && b);
    const key = (chunkId: string) => ({ projectId, collectionId, chunkId });
    await chunks.change(key(a.id), { metadata: { n: 1 }, updatedAt: start + 1 });
    assert.deepEqual(await live(), [two, [2, 2]]);
    await chunks.change(key(a.id), { text: { content: 'A', numTokens: 1 }, updatedAt: start + 1 });
    await chunks.remove(key(b.id));
    assert.deepEqual([await live(), await valuesOf(vectors, former)], [[two, []], []]);
  });

  test('asking twice builds once, asking for the model in use ends the building, and a third model replaces it', async () => {
    const { vectors, collectionId, one, two, three, embed, live, roles, texts } = await openSets();
    await vectors.prepare(collectionId, two);
    const held = await vectors.claimBackfill({ ...lease, model: two });
    assert.ok(held);
    await vectors.prepare(collectionId, two);
    assert.equal(await vectors.renewBackfill(held, start + 99), true);
    await vectors.prepare(collectionId, one);
    assert.deepEqual(await roles(), ['live one', 'kept two']);
    assert.equal(await vectors.renewBackfill(held, start + 99), false);
    assert.equal(await vectors.endBackfill(held, { kind: 'done' }), 'ended');
    assert.deepEqual(await live(), [one, [1, 1]]);
    await vectors.prepare(collectionId, three);
    assert.deepEqual(await roles(), ['live one', 'next three']);
    texts.length = 0;
    assert.equal(await embed(three, 3), 'swapped');
    assert.deepEqual(
      [await live(), texts],
      [
        [three, [3, 3]],
        ['3 a', '3 b'],
      ],
    );
  });

  test('vectors that were built or kept are built again if they do not have the current dimensions of the model', async () => {
    const { vectors, collectionId, one, two, embed, live, roles, texts } = await openSets();
    await vectors.prepare(collectionId, two, 3);
    const held = await vectors.claimBackfill({ ...lease, model: two });
    assert.ok(held);
    const [first] = await vectors.missing(held, { after: '', limit: 1, now: start });
    assert.ok(first);
    await vectors.save(held, two, [{ ...first, embedded: Float32Array.of(7, 7, 7) }]);
    await vectors.prepare(collectionId, two, 3);
    assert.equal(await vectors.renewBackfill(held, start + 99), true, 'the same dimensions are continued');
    await vectors.prepare(collectionId, two, 1);
    assert.equal(await vectors.renewBackfill(held, start + 99), false, 'other dimensions begin again');
    texts.length = 0;
    assert.equal(await embed(two, 2), 'swapped');
    assert.deepEqual(
      [await live(), texts],
      [
        [two, [2, 2]],
        ['2 a', '2 b'],
      ],
    );
    await vectors.prepare(collectionId, one, 5);
    assert.deepEqual(await roles(), ['live two', 'next one']);
    texts.length = 0;
    assert.equal(await embed(one, 1), 'swapped');
    assert.deepEqual(texts, ['1 a', '1 b'], 'a kept set of other dimensions is not continued');
  });

  test('the same model can be built again, without the vectors of before', async () => {
    const { vectors, collectionId, one, embed, live, texts } = await openSets();
    await vectors.prepare(collectionId, one);
    texts.length = 0;
    assert.equal(await embed(one, 4), 'swapped');
    assert.deepEqual(
      [await live(), texts],
      [
        [one, [4, 4]],
        ['4 a', '4 b'],
      ],
    );
    await vectors.prepare(collectionId, one);
    assert.equal(await embed(one, 5), 'swapped');
    assert.deepEqual(await live(), [one, [5, 5]]);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredCollection } from '../../collections/collection-repository.ts';
import {
  addCollection,
  addRecord,
  claim,
  collectionTests,
  keyOf,
  newChunk,
  newId,
  type OpenedRepositories,
  recordOf,
  start,
} from '../../collections/testing/fixtures.suite.ts';
import type { ChunkFilter } from '../chunk-index.ts';
import type { VectorSpace } from '../embedding/vector-index.ts';
import type { BackfillJob, NewVector, VectorRepository } from '../vector-repository.ts';
import { readAll } from './read-all.suite.ts';

const toVector = (seq: number, values: readonly number[]): NewVector => ({
  seq,
  updatedAt: start,
  embedded: Float32Array.from(values),
});

const refused = { reason: 'The model refuses the text.', retryAt: null, failures: 1 };

/** The key of the first set of vectors of a collection. */
export const firstSet = (collectionId: string) => ({ collectionId, slot: 0 }) as const;

/** Puts new vectors into use, none of which is stored yet. */
export async function replaceVectors(vectors: VectorRepository, collectionId: string, model: string): Promise<void> {
  await vectors.prepare(collectionId, model);
  const job = await vectors.claimBackfill({ ...claimEmbed, model, token: 'r', now: start, leaseUntil: start + 10 });
  assert.equal(job?.collectionId, collectionId);
  assert.equal(await vectors.endBackfill(job, { kind: 'done' }), 'swapped');
}

/** Compares chunks as if an index had found them. Their bounds exceed every cosine, so that all are read. */
function compare(
  vectors: VectorRepository,
  space: VectorSpace,
  { found = [], others = [], filter }: { found?: number[]; others?: readonly number[]; filter?: ChunkFilter },
) {
  const near = { seqs: Float64Array.from(found), bounds: new Float64Array(found.length).fill(2), rest: 0.5 };
  const query = Float32Array.from({ length: space.dimensions }, (_, place) => (place === 0 ? 1 : 0));
  return vectors.compare({ space, query, near, limit: 2, filter, others });
}

const compareOthers = async (vectors: VectorRepository, space: VectorSpace, others: readonly number[]) =>
  (await compare(vectors, space, { others })).others;

const claimEmbed = { kind: 'embed', afterProject: '' } as const;

/** Tests the behaviour of every vector repository. */
export function testVectorRepository(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  async function openSpace(contents: readonly string[] = ['a', 'b', 'c']) {
    const repositories = open();
    const collection = await addCollection(repositories);
    for (const content of contents)
      await repositories.chunks.add(collection.projectId, collection.id, newChunk(content));
    const model = `model ${collection.id}`;
    assert.equal((await repositories.vectors.adopt(collection.id, model))?.model, model);
    const missing = () => repositories.vectors.missing(firstSet(collection.id), { after: '', limit: 100, now: start });
    const seqs = (await missing()).map(({ seq }) => seq);
    return { ...repositories, collection, collectionId: collection.id, model, missing, seqs };
  }
  const spaceOf = async (vectors: VectorRepository, collectionId: string) => {
    const space = await vectors.find(collectionId);
    assert.ok(space);
    return space;
  };

  test('the backlog counts the collections of the model that need the backfill', async () => {
    const { vectors, collectionId, model } = await openSpace();
    assert.deepEqual([await vectors.countBacklog(model), await vectors.countBacklog('other')], [1, 0]);
    assert.deepEqual(await vectors.countCollections(model), { all: 1, waiting: 1 });
    const lease = { token: 'a', now: start, leaseUntil: start + 1000 };
    const job = await vectors.claimBackfill({ ...lease, ...claimEmbed, model });
    assert.ok(job !== undefined && job.collectionId === collectionId);
    await vectors.endBackfill(job, { kind: 'done' });
    assert.equal(await vectors.countBacklog(model), 0);
    assert.deepEqual(await vectors.countCollections(model), { all: 1, waiting: 0 });
  });

  test('vectors are read unchanged, and chunks without a vector are listed, page by page', async () => {
    const { vectors, collectionId, model, missing, seqs } = await openSpace();
    const [a = 0, b = 0, c = 0] = seqs;
    const [first] = await missing();
    assert.deepEqual(await vectors.save(firstSet(collectionId), model, [toVector(b, [0.25, -1.5, 3])]), {
      kind: 'saved',
    });
    assert.deepEqual(
      (await missing()).map(({ seq, text }) => [seq, text]),
      [
        [a, 'a'],
        [c, 'c'],
      ],
    );
    assert.deepEqual(
      (await vectors.missing(firstSet(collectionId), { after: first?.id ?? '', limit: 1, now: start })).map(
        ({ seq }) => seq,
      ),
      [c],
    );
    const space = await spaceOf(vectors, collectionId);
    assert.equal(space.dimensions, 3);
    assert.deepEqual(await readAll(vectors, space), [[b, 0.25, -1.5, 3]]);
  });

  test('a comparison finds the nearest of the visible chunks that meet the filter, and the cosines of others', async () => {
    const repositories = await openSpace(['a', 'b']);
    const { vectors, records, collection, collectionId, model, missing } = repositories;
    const record = await recordOf(repositories, collection, ['c']);
    const hidden = await recordOf(repositories, collection, ['d']);
    const seqs = (await missing()).map(({ seq }) => seq);
    const [a = 0, b = 0, c = 0, d = 0] = seqs;
    const vectorsOf = [
      [0.6, 0.8],
      [0.8, 0.6],
      [1, 0],
      [0.9, 0.1],
    ];
    const stored = vectorsOf.map((values, place) => toVector(seqs[place] ?? 0, values));
    await vectors.save(firstSet(collectionId), model, stored);
    await records.markDeleting(keyOf(hidden), start);
    const space = await spaceOf(vectors, collectionId);
    const rounded = ({ seq, similarity }: { seq: number; similarity: number }) => [seq, Number(similarity.toFixed(6))];

    const all = await compare(vectors, space, { found: [d, a, b], others: [c, d, b] });
    assert.deepEqual(all.nearest.map(rounded), [
      [b, 0.8],
      [a, 0.6],
    ]);
    assert.deepEqual([all.isComplete, all.others.map(rounded)], [true, [[c, 1]]]);
    const filter = { type: 'eq', field: 'record_id', value: record.id } as const;
    const filtered = await compare(vectors, space, { found: [a, b, c, d], filter });
    assert.deepEqual([filtered.nearest.map(rounded), filtered.isComplete], [[[c, 1]], false]);
    const gone = Array.from({ length: 5_000 }, (_, place) => 1e9 + place);
    assert.deepEqual(await compare(vectors, space, { found: [...gone, d, a, b], others: [c, d, b] }), all);
    await replaceVectors(vectors, collectionId, 'other');
    assert.deepEqual((await compare(vectors, await spaceOf(vectors, collectionId), { found: [a, b] })).nearest, []);
    const sweep = await claim(repositories, start + 1, { kind: 'sweep' });
    assert.equal(await repositories.jobs.sweep(sweep, { limit: 10, leaseUntil: start + 99 }), 'done');
  });

  test('vectors are read in the order of the changes, and a changed vector again', async () => {
    const { vectors, collectionId, model, seqs } = await openSpace();
    const [a = 0, b = 0, c = 0] = seqs;
    await vectors.save(firstSet(collectionId), model, [toVector(a, [1]), toVector(b, [-1])]);
    await vectors.save(firstSet(collectionId), model, [toVector(c, [1]), toVector(a, [-1])]);
    const space = await spaceOf(vectors, collectionId);
    assert.deepEqual(await readAll(vectors, space), [
      [b, -1],
      [a, -1],
      [c, 1],
    ]);
  });

  test('a failed text is due again at its time, and its collection is then marked for the backfill', async () => {
    const { vectors, collections, collection, collectionId, model, seqs } = await openSpace(['a']);
    const [seq = 0] = seqs;
    const failure = { reason: 'status 500', retryAt: start + 1000, failures: 3 };
    const job = await vectors.claimBackfill({ ...claimEmbed, model, token: 'a', now: start, leaseUntil: start + 10 });
    assert.ok(job);
    await vectors.save(firstSet(collectionId), model, [{ seq, updatedAt: start, embedded: failure }]);
    await vectors.endBackfill(job, { kind: 'done' });
    const due = async (now: number) => {
      await vectors.requeueFailed({ model, now });
      const rows = await vectors.missing(firstSet(collectionId), { after: '', limit: 9, now });
      return [(await spaceOf(vectors, collectionId)).needsBackfill, rows.map(({ failures }) => failures)];
    };
    assert.deepEqual(await due(start + 999), [false, []]);
    assert.equal((await collections.find(collection.projectId, collectionId))?.vectors?.numRefused, 0);
    assert.deepEqual(await due(start + 1000), [true, [3]]);
    await vectors.save(firstSet(collectionId), model, [toVector(seq, [1])]);
    assert.deepEqual((await due(start + 1000))[1], []);
  });

  test('a vector of a deleted or changed chunk is not stored', async () => {
    const { vectors, chunks, collection, collectionId, model, missing, seqs } = await openSpace(['a', 'b']);
    const [a = 0, b = 0] = seqs;
    const stored = await chunks.fetch([collectionId], seqs);
    const key = (seq: number) => ({
      projectId: collection.projectId,
      collectionId,
      chunkId: stored.get(seq)?.id ?? '',
    });
    await chunks.remove(key(a));
    await chunks.change(key(b), { text: { content: 'B', numTokens: 1 }, updatedAt: start + 1 });
    await vectors.save(firstSet(collectionId), model, [toVector(a, [1]), toVector(b, [1])]);
    assert.deepEqual(
      (await missing()).map(({ seq, text, updatedAt }) => ({ seq, text, updatedAt })),
      [{ seq: b, text: 'B', updatedAt: start + 1 }],
    );
  });

  test('the dimensions of a model never change, and another model is reported and not mixed', async () => {
    const { vectors, collectionId, model, seqs } = await openSpace(['a', 'b']);
    const [a = 0, b = 0] = seqs;
    await vectors.save(firstSet(collectionId), model, [toVector(a, [1, 2])]);
    assert.deepEqual(await vectors.save(firstSet(collectionId), model, [toVector(b, [1])]), {
      kind: 'other_dimensions',
      given: 1,
      stored: 2,
    });
    assert.deepEqual(await vectors.save(firstSet(collectionId), 'other', [toVector(b, [1, 2])]), {
      kind: 'other_model',
    });
    assert.equal((await vectors.adopt(collectionId, 'other'))?.model, model);
    await replaceVectors(vectors, collectionId, 'other');
    const replaced = await spaceOf(vectors, collectionId);
    assert.deepEqual([replaced.model, replaced.dimensions, replaced.slot], ['other', 0, 1]);
    assert.equal((await vectors.missing(replaced, { after: '', limit: 100, now: start })).length, 2);
    assert.deepEqual(await compareOthers(vectors, replaced, seqs), []);
    await vectors.save(replaced, 'other', [toVector(a, [1, 2, 3])]);
    assert.deepEqual(await readAll(vectors, await spaceOf(vectors, collectionId)), [[a, 1, 2, 3]]);
  });

  it('chunks are listed when they are visible, and a published record wants their vectors', async (repositories) => {
    const { vectors, jobs, collection } = repositories;
    const collectionId = collection.id;
    await vectors.adopt(collectionId, 'm');
    const earlier = await recordOf(repositories, collection, ['visible']);
    const record = await addRecord(repositories, collection);
    const job = await claim(repositories);
    assert.equal(job.id, record.id);
    await jobs.addChunks(job, [newChunk('half'), newChunk('other half', { ordinal: 1 })]);
    const missing = () => vectors.missing(firstSet(collectionId), { after: '', limit: 9, now: start });
    const [visible, ...others] = await missing();
    assert.deepEqual([visible?.text, others], ['visible', []]);
    await jobs.publish(job, { status: 'ready', numChunks: 2, report: {}, now: start });
    assert.deepEqual(
      (await missing()).map(({ text }) => text),
      ['visible', 'half', 'other half'],
    );
    const half = (await missing())[1];
    await vectors.save(firstSet(collectionId), 'm', [
      { ...toVector(visible?.seq ?? 0, [1]), tokens: 7 },
      { seq: half?.seq ?? 0, updatedAt: half?.updatedAt ?? 0, embedded: refused },
    ]);
    const count = (model: string) =>
      vectors.countOfRecords({ ...firstSet(collectionId), model }, [earlier.id, record.id]);
    assert.deepEqual(
      await count('m'),
      new Map([
        [earlier.id, { embedded: 1, refused: 0, tokens: 7, reason: null }],
        [record.id, { embedded: 0, refused: 1, tokens: 0, reason: refused.reason }],
      ]),
    );
    assert.deepEqual(await count('other'), new Map());
  });

  it('the new chunks of a record get the vectors of old ones with the same embedded text', async (repositories) => {
    const { vectors, jobs, records, collections, collection } = repositories;
    const [collectionId, model] = [collection.id, 'm'];
    await vectors.adopt(collectionId, model);
    const missing = () => vectors.missing(firstSet(collectionId), { after: '', limit: 9, now: start });
    const record = await addRecord(repositories, collection);
    const pair = (question: string, ordinal: number) => newChunk('the answer', { question, ordinal });
    const publish = async (at: number, chunks: ReturnType<typeof newChunk>[]) => {
      const job = await claim(repositories, at);
      await jobs.addChunks(job, chunks);
      const ingested = { status: 'ready', numChunks: chunks.length, report: {}, now: at } as const;
      assert.equal((await jobs.publish(job, ingested)).kind, 'published');
    };
    await publish(start, [newChunk('same'), newChunk('other', { ordinal: 1 }), pair('old?', 2), pair('kept?', 3)]);
    const stored = (await missing()).map(({ seq, text }) => [text, seq] as const);
    const values = new Map(stored.map(([text], place) => [text, [1, place]]));
    const embedded = stored.map(([text, seq]) => toVector(seq, values.get(text) ?? []));
    await vectors.save(firstSet(collectionId), model, embedded);
    const [now, source] = [start + 1, { type: 'text', content: 'new', fileId: null, url: null, textSplitter: null }];
    const change = { source, deadlineAt: now + 9 } as NonNullable<Parameters<typeof records.change>[1]['remake']>;
    await records.change(keyOf(record), { remake: change, updatedAt: now });
    await publish(now, [newChunk('new'), newChunk('same', { ordinal: 1 }), pair('new?', 2), pair('kept?', 3)]);

    assert.deepEqual(
      (await missing()).map(({ text }) => text),
      ['new', 'new?'],
    );
    const rows = await readAll(vectors, await spaceOf(vectors, collectionId));
    assert.deepEqual(
      rows.slice(stored.length).map(([, ...vector]) => vector),
      [values.get('same'), values.get('kept?')],
    );
    const sweep = await claim(repositories, now, { kind: 'sweep' });
    assert.equal(await jobs.sweep(sweep, { limit: 10, leaseUntil: now + 99 }), 'done');
    assert.equal((await collections.find(collection.projectId, collectionId))?.vectors?.numEmbedded, 2);
  });

  test('one worker at a time backfills a collection, and chunks added in the meantime are included', async () => {
    const { vectors, chunks, collection, collectionId, model } = await openSpace(['a']);
    const claimAt = (now: number) =>
      vectors.claimBackfill({ ...claimEmbed, model, token: newId('run'), now, leaseUntil: now + 10 });
    const held = await claimAt(start);
    assert.ok(held);
    assert.equal(await claimAt(start), undefined);
    await chunks.add(collection.projectId, collectionId, newChunk('late'));
    await vectors.endBackfill(held, { kind: 'done' });
    const again = await claimAt(start);
    assert.ok(again, 'the chunk that came late is wanted');
    await vectors.endBackfill(again, { kind: 'deferred', runAfter: start + 100 });
    assert.equal(await claimAt(start + 99), undefined);
    const third = await claimAt(start + 100);
    assert.equal(third?.attempt, 2);
    assert.equal(await vectors.renewBackfill(third, start + 300), true);
    assert.equal(await claimAt(start + 299), undefined);
    const stolen = await claimAt(start + 300);
    assert.ok(stolen, 'the lease ran out');
    assert.equal(await vectors.renewBackfill(third, start + 900), false);
    await vectors.endBackfill(third, { kind: 'done' });
    assert.equal((await vectors.find(collectionId))?.needsBackfill, true);
    await vectors.endBackfill(stolen, { kind: 'done' });
    assert.equal((await vectors.find(collectionId))?.needsBackfill, false);
  });

  test('a retry that is requested during an attempt begins at once when the attempt fails', async () => {
    const { vectors, collectionId, model } = await openSpace(['a']);
    const claimAt = (now: number) =>
      vectors.claimBackfill({ ...claimEmbed, model, token: newId('run'), now, leaseUntil: now + 10 });
    const held = await claimAt(start);
    assert.ok(held);
    await vectors.retryFailures(collectionId, start + 1);
    await vectors.endBackfill(held, { kind: 'deferred', runAfter: start + 3_600_000 });
    const again = await claimAt(start + 2);
    assert.ok(again);
    await vectors.endBackfill(again, { kind: 'deferred', runAfter: start + 100 });
    assert.equal(await claimAt(start + 99), undefined);
  });

  test('a walk continues where it stopped, and the next one begins at the first chunk that lost its vector', async () => {
    const { vectors, chunks, collection, collectionId, model, missing } = await openSpace(['a', 'b', 'c']);
    const [a, b] = await missing();
    const claimNext = () =>
      vectors.claimBackfill({ ...claimEmbed, model, token: newId('run'), now: start, leaseUntil: start + 10 });
    const first = await claimNext();
    assert.equal(first?.reached, '');
    await vectors.endBackfill(first, { kind: 'continued', reached: b?.id ?? '', runAfter: start });
    const second = await claimNext();
    assert.deepEqual([second?.reached, second?.attempt], [b?.id, 1]);
    assert.ok(second);
    const late = newChunk('late');
    await chunks.add(collection.projectId, collectionId, late);
    const key = { projectId: collection.projectId, collectionId, chunkId: b?.id ?? '' };
    await chunks.change(key, { text: { content: 'B', numTokens: 1 }, updatedAt: start + 1 });
    await vectors.endBackfill(second, { kind: 'done' });
    const third = await claimNext();
    const { reached = '' } = third ?? {};
    assert.ok(reached > (a?.id ?? '') && reached < (b?.id ?? ''), reached);
    assert.ok(third);
    await vectors.endBackfill(third, { kind: 'done' });
    assert.equal(await claimNext(), undefined);
  });

  test('projects take turns, and so do the collections of a project', async () => {
    const repositories = open();
    const { vectors, chunks } = repositories;
    const model = newId('run');
    const [one, two] = [await repositories.newProject(), await repositories.newProject()].sort() as [string, string];
    const add = async (projectId: string) => {
      const { id } = await addCollection(repositories, { projectId });
      await chunks.add(projectId, id, newChunk('a'));
      await vectors.adopt(id, model);
      return id;
    };
    const [a, b, c] = [await add(one), await add(one), await add(two)];
    const order: string[] = [];
    let afterProject = '';
    for (let now = start; order.length < 6; now++) {
      const lease = { token: newId('run'), now, leaseUntil: now + 10 };
      const job = await vectors.claimBackfill({ kind: 'embed', afterProject, model, ...lease });
      assert.ok(job);
      afterProject = job.projectId;
      order.push(job.id);
      await vectors.endBackfill(job, { kind: 'continued', reached: '', runAfter: now });
    }
    const first = order[0] === a ? [a, b] : [b, a];
    assert.deepEqual(order, [first[0], c, first[1], c, first[0], c]);
  });

  test('a collection with a first model needs a backfill only when it has chunks', async () => {
    const repositories = open();
    const { vectors, chunks } = repositories;
    const [empty, direct, withRecord] = [
      await addCollection(repositories),
      await addCollection(repositories),
      await addCollection(repositories),
    ];
    await chunks.add(direct.projectId, direct.id, newChunk('direct'));
    await recordOf(repositories, withRecord, ['of a record']);
    const needsBackfill = async (of: StoredCollection) => (await vectors.adopt(of.id, 'm'))?.needsBackfill;
    assert.deepEqual(
      [await needsBackfill(empty), await needsBackfill(direct), await needsBackfill(withRecord)],
      [false, true, true],
    );
    await chunks.add(empty.projectId, empty.id, newChunk('first'));
    assert.equal(await needsBackfill(empty), true);
  });

  test('collections without a model get it, and others keep theirs', async () => {
    const { vectors, collectionId, model } = await openSpace();
    const bare = await addCollection(open());
    await vectors.adoptAll('for all');
    assert.equal((await vectors.find(collectionId))?.model, model);
    assert.deepEqual(
      { ...(await vectors.find(bare.id)), collectionId: '' },
      {
        ...{
          collectionId: '',
          slot: 0,
          role: 'live',
          model: 'for all',
          dimensions: 0,
          firstChange: 0,
          lastChange: 0,
          count: 0,
          needsBackfill: true,
        },
      },
    );
    const job = await vectors.claimBackfill({
      ...{ ...claimEmbed, model, token: 'a', now: start, leaseUntil: start + 10 },
    });
    await vectors.endBackfill(job as BackfillJob, { kind: 'done' });
    const isMarked = async () => (await vectors.find(collectionId))?.needsBackfill;
    assert.equal(await isMarked(), false);
    await vectors.requeueAll('for all');
    assert.equal(await isMarked(), false, 'of another model');
    await vectors.requeueAll(model);
    assert.equal(await isMarked(), true);
  });
}

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { until } from '../../../platform/testing/until.ts';
import type { VectorSpace } from '../embedding/vector-index.ts';
import { openVectorIndex, type VectorIndexDeps } from './open-vector-index.ts';
import { createVectors, findNearest, type VectorKind } from './testing/random-vectors.fixture.ts';
import { bytesOfCodes } from './vector-codes.ts';

const logger = createLogger('silent');
const batch = 1000;

/** Holds collections, like a repository. The seq of a vector is its place, and so is its change. */
function createSource(collections: Record<string, readonly Float32Array[]>) {
  const reads: Record<string, number> = {};
  async function* readVectors({ collectionId, dimensions, lastChange }: VectorSpace, after: number) {
    for (let from = after + 1; from <= lastChange; from += batch) {
      const part = (collections[collectionId] ?? []).slice(from, Math.min(lastChange + 1, from + batch));
      const vectors = new Float32Array(part.length * dimensions);
      for (const [place, vector] of part.entries()) vectors.set(vector, place * dimensions);
      reads[collectionId] = (reads[collectionId] ?? 0) + part.length;
      yield { seqs: Float64Array.from(part, (_, place) => from + place), vectors };
    }
  }
  const spaceOf = (collectionId: string, count = collections[collectionId]?.length ?? 0): VectorSpace => ({
    collectionId,
    slot: 0,
    dimensions: collections[collectionId]?.[0]?.length ?? 0,
    firstChange: -1,
    lastChange: count - 1,
    count,
  });
  return { readVectors, reads, spaceOf };
}

function open(t: TestContext, deps: Pick<VectorIndexDeps, 'readVectors'> & Partial<VectorIndexDeps>) {
  const index = openVectorIndex({ memory: 2 ** 26, logger, waitMs: 60_000, ...deps });
  t.after(() => index.close());
  /** Loads a space and asks it. */
  const ask = async (space: VectorSpace, query: Float32Array, count: number) =>
    (await index.load(space)) ? index.nearest(space, query, count) : undefined;
  return { ...index, ask };
}

const kinds: readonly VectorKind[] = ['topics', 'similar', 'clusters', 'tight', 'uniform', 'positive'];

for (const kind of kinds) {
  test(`candidates among ${kind} vectors contain the 50 nearest, and the bound of the rest holds`, async (t) => {
    let [found, wanted] = [0, 0];
    for (const dimensions of [64, 200]) {
      const { vectors, queries } = createVectors(kind, { count: 5000, dimensions });
      const source = createSource({ c: vectors });
      const index = open(t, source);
      for (const query of queries(10)) {
        const near = await index.ask(source.spaceOf('c'), query, 50);
        const seqs = new Set(near?.seqs);
        const nearest = findNearest(vectors, query, 50);
        found += nearest.filter((seq) => seqs.has(seq)).length;
        wanted += nearest.length;
        assert.ok(near !== undefined && near.rest > -1);
        assert.deepEqual(
          [...near.bounds].sort((a, b) => b - a),
          [...near.bounds],
        );
        assert.ok(seqs.size < 1500, `${seqs.size} candidates`);
      }
    }
    assert.ok(found / wanted >= 0.995, `${found} of ${wanted}`);
  });
}

test('new vectors are read once, and questions at the same time read together', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 5000, dimensions: 64 });
  const source = createSource({ c: vectors });
  const index = open(t, source);
  const [query = new Float32Array()] = queries(1);
  for (const count of [1, 2, 3, 10, 700, 2100, 2101, 4999]) {
    const both = [0, 1].map(() => index.ask(source.spaceOf('c', count), query, 1));
    for (const near of await Promise.all(both)) {
      assert.ok(near?.seqs.includes(findNearest(vectors.slice(0, count), query, 1)[0] ?? -1), `${count} vectors`);
    }
  }
  assert.deepEqual(source.reads, { c: 4999 });
  const near = await index.ask(source.spaceOf('c'), query, 5001);
  assert.deepEqual([near?.rest, new Set(near?.seqs).size], [Number.NEGATIVE_INFINITY, 5000]);
});

test('a changed vector is found by its new place, once', async (t) => {
  const vectors = Array.from({ length: 3000 }, (_, n) => Float32Array.of(Math.cos(n), Math.sin(n), 0));
  const changed = Float32Array.of(0, 0, 1);
  async function* readVectors(space: VectorSpace, after: number) {
    if (after < 0)
      yield { seqs: Float64Array.from(vectors.keys()), vectors: Float32Array.from(vectors.flatMap((v) => [...v])) };
    if (space.lastChange === 1) yield { seqs: Float64Array.of(7), vectors: changed };
  }
  const index = open(t, { readVectors });
  const space = { collectionId: 'c', slot: 0, dimensions: 3, firstChange: -1, lastChange: 0, count: 3000 } as const;
  assert.ok(await index.load(space));
  const later = { ...space, lastChange: 1 };
  const near = await index.ask(later, changed, 1);
  assert.equal(near?.seqs[0], 7);
  assert.equal((await index.ask(later, changed, 4000))?.seqs.length, 3000);
});

test('a question does not wait for a long reading, which goes on', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 3000, dimensions: 64 });
  const source = createSource({ c: vectors });
  const held = Promise.withResolvers<void>();
  async function* readVectors(space: VectorSpace, after: number) {
    await held.promise;
    yield* source.readVectors(space, after);
  }
  const index = open(t, { readVectors, waitMs: 1 });
  const space = source.spaceOf('c');
  assert.equal(await index.load(space), false);
  held.resolve();
  await until(() => index.load(space));
  const [query = new Float32Array()] = queries(1);
  assert.ok((await index.nearest(space, query, 1))?.seqs.includes(findNearest(vectors, query, 1)[0] ?? -1));
  assert.deepEqual(source.reads, { c: 3000 });
});

test('a new collection replaces one without recent questions in memory; without such a collection, a log line names the setting to raise', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 2048, dimensions: 64 });
  const source = createSource({ a: vectors, b: vectors });
  const [query = new Float32Array()] = queries(1);
  const lines: string[] = [];
  const memory = 1.5 * bytesOfCodes(64, 2048);
  const warn = (_: object, message: string) => void lines.push(message);
  const busy = open(t, { ...source, memory, logger: { ...logger, warn } as unknown as typeof logger });
  assert.ok(await busy.ask(source.spaceOf('a'), query, 1));
  assert.equal(await busy.ask(source.spaceOf('b'), query, 1), undefined);
  assert.match(lines.join(), /raise QUARTERMASTER_VECTOR_MEMORY_MB/);
  assert.ok(await busy.ask(source.spaceOf('a'), query, 1));
  assert.deepEqual(source.reads, { a: 2048 });
  const idle = open(t, { ...source, memory, idleMs: 0 });
  for (const name of ['a', 'b', 'a']) assert.ok(await idle.ask(source.spaceOf(name), query, 1), name);
  assert.deepEqual(source.reads, { a: 3 * 2048, b: 2048 });
});

test('vectors are read again when many of those in memory were deleted or replaced, and not when they become more', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 16_000, dimensions: 8 });
  const source = createSource({ deleted: vectors, replaced: vectors, more: vectors, miscounted: vectors });
  const index = open(t, source);
  const [query = new Float32Array()] = queries(1);
  const ask = (name: string, changes: number, count: number) =>
    index.ask({ ...source.spaceOf(name, changes), count }, query, 1);
  for (const count of [16_000, 12_000, 9_000, 9_000]) await ask('deleted', 16_000, count);
  for (const changes of [8_000, 12_000, 16_000, 16_000]) await ask('replaced', changes, 8_000);
  for (const count of [100, 12_000, 16_000]) await ask('more', count, count);
  for (const count of [8_000, 8_000]) await ask('miscounted', 16_000, count);
  assert.deepEqual(source.reads, { deleted: 32_000, replaced: 32_000, more: 16_000, miscounted: 16_000 });
});

test('vectors of an earlier model are not mixed with those of the current one', async (t) => {
  const source = createSource({ c: [Float32Array.of(1, 0), Float32Array.of(0, 1)] });
  const index = open(t, source);
  const query = Float32Array.of(1, 0);
  assert.deepEqual([...((await index.ask(source.spaceOf('c', 1), query, 9))?.seqs ?? [])], [0]);
  const current = { ...source.spaceOf('c'), firstChange: 0 };
  assert.deepEqual([...((await index.ask(current, query, 9))?.seqs ?? [])], [1]);
});

test('vectors of zeros and equal vectors are found', async (t) => {
  const unit = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  for (const count of [40, 2500]) {
    const vectors = Array.from({ length: count }, (_, n) => (n < 3 ? new Float32Array(8) : unit));
    const source = createSource({ c: vectors });
    const near = await open(t, source).ask(source.spaceOf('c'), unit, count - 3);
    assert.deepEqual(
      [...(near?.seqs ?? [])].sort((a, b) => a - b),
      Array.from({ length: count - 3 }, (_, n) => n + 3),
    );
  }
});

test('a failed reading fails the question, and the next question reads again', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 3000, dimensions: 8 });
  const source = createSource({ c: vectors });
  let fails = true;
  async function* readVectors(space: VectorSpace, after: number) {
    for await (const part of source.readVectors(space, after)) {
      yield part;
      if (fails) throw new Error('the disk is gone');
    }
  }
  const index = open(t, { readVectors });
  const [query = new Float32Array()] = queries(1);
  await assert.rejects(index.load(source.spaceOf('c')), /the disk is gone/);
  fails = false;
  const near = await index.ask(source.spaceOf('c'), query, 3001);
  assert.equal(near?.seqs.length, 3000);
});

test('an index that was never asked can be closed', async () => {
  await openVectorIndex({ readVectors: createSource({}).readVectors, memory: 1, logger }).close();
});

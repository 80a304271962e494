import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VectorSpace } from '../embedding/vector-index.ts';
import { openEncoder } from './encoder.ts';
import { openVectorIndex, type PageSource } from './open-vector-index.ts';
import type { PageBytes } from './page-format.ts';
import type { ListedPage, TailVectors } from './page-protocol.ts';
import { createVectors, findNearest, type VectorKind } from './testing/random-vectors.fixture.ts';

const join = (vectors: readonly Float32Array[]): TailVectors['vectors'] => {
  const dimensions = vectors[0]?.length ?? 0;
  const joined = new Float32Array(vectors.length * dimensions);
  for (const [place, vector] of vectors.entries()) joined.set(vector, place * dimensions);
  return joined;
};

/** Holds the pages and the tails of collections, like a repository. The seq of a vector is its place, and so is its change. */
function createSource(collections: Record<string, readonly Float32Array[]>) {
  const encoder = openEncoder();
  const pages = new Map<number, { collectionId: string; count: number; bytes: PageBytes }>();
  const paged = new Map<string, { change: number; version: number }>();
  const reads = { pages: 0, scans: 0, tail: 0 };
  const vectorsOf = (id: string) => collections[id] ?? [];
  async function page(collectionId: string, to: number): Promise<void> {
    const { change = -1, version = 0 } = paged.get(collectionId) ?? {};
    const added = vectorsOf(collectionId).slice(change + 1, to + 1);
    const seqs = Float64Array.from(added, (_, place) => change + 1 + place);
    const dimensions = added[0]?.length ?? 0;
    const earlier = [...pages.values()].findLast((each) => each.collectionId === collectionId)?.bytes.scan ?? null;
    const bytes = await encoder.encode({ seqs, vectors: join(added), dimensions, earlier });
    pages.set(pages.size + 1, { collectionId, count: added.length, bytes });
    paged.set(collectionId, { change: to, version: version + 1 });
  }
  const list = (collectionId: string): ListedPage[] =>
    [...pages].flatMap(([id, each]) => (each.collectionId === collectionId ? [{ id, count: each.count }] : []));
  const source: PageSource = {
    listPages: async ({ collectionId }) => list(collectionId),
    async readPage(id) {
      reads.pages += 1;
      return pages.get(id)?.bytes;
    },
    async readScan(id) {
      reads.scans += 1;
      return pages.get(id)?.bytes.scan;
    },
    async *readTail({ collectionId, lastChange }, after) {
      const added = vectorsOf(collectionId).slice(after + 1, lastChange + 1);
      reads.tail += added.length;
      const seqs = Float64Array.from(added, (_, place) => after + 1 + place);
      if (added.length > 0) yield { seqs, vectors: join(added) };
    },
  };
  const spaceOf = (collectionId: string, count = vectorsOf(collectionId).length, firstChange = -1): VectorSpace => {
    const { change = -1, version = 0 } = paged.get(collectionId) ?? {};
    const dimensions = vectorsOf(collectionId)[0]?.length ?? 0;
    return {
      collectionId,
      slot: 0,
      dimensions,
      firstChange,
      lastChange: count - 1,
      pagedChange: change,
      pageVersion: version,
    };
  };
  return { source, page, pages, reads, spaceOf, close: () => encoder[Symbol.asyncDispose]() };
}

const kinds: readonly VectorKind[] = ['topics', 'similar', 'clusters', 'tight', 'uniform', 'positive'];

for (const kind of kinds) {
  test(`candidates among ${kind} vectors contain the 50 nearest, and the bound of the rest holds`, async (t) => {
    let [found, wanted] = [0, 0];
    for (const dimensions of [64, 200]) {
      const { vectors, queries } = createVectors(kind, { count: 3000, dimensions });
      const held = createSource({ c: vectors });
      const index = openVectorIndex({ source: held.source, memory: 2 ** 26 });
      t.after(() => Promise.all([index.close(), held.close()]));
      await held.page('c', 2047);
      for (const query of queries(10)) {
        const near = await index.nearest(held.spaceOf('c'), query, 50);
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

test('pages that exceed the memory are read for each question, which finds the same', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 5000, dimensions: 64 });
  const held = createSource({ c: vectors });
  const [large, small] = [2 ** 26, 250_000].map((memory) => openVectorIndex({ source: held.source, memory }));
  t.after(() => Promise.all([large?.close(), small?.close(), held.close()]));
  for (const to of [2047, 4095]) await held.page('c', to);
  for (const query of queries(20)) {
    const nearest = findNearest(vectors, query, 10);
    for (const index of [large, small]) {
      const seqs = new Set((await index?.nearest(held.spaceOf('c'), query, 10))?.seqs);
      assert.deepEqual(
        nearest.filter((seq) => seqs.has(seq)),
        nearest,
      );
    }
  }
  // The large one reads two pages once; the small one has room for one of them.
  assert.deepEqual(held.reads, { pages: 3, scans: 20, tail: 2 * 904 });
});

test('questions that read pages at the same time find what each finds alone', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 3000, dimensions: 64 });
  const held = createSource({ c: vectors });
  await held.page('c', 2047);
  const asked = queries(8);
  const space = held.spaceOf('c');
  const together = openVectorIndex({ source: held.source, memory: 2 ** 26 });
  const alone = openVectorIndex({ source: held.source, memory: 2 ** 26 });
  t.after(() => Promise.all([together.close(), alone.close(), held.close()]));
  const found = await Promise.all(asked.map((query) => together.nearest(space, query, 20)));
  for (const [place, query] of asked.entries()) {
    assert.deepEqual(found[place], await alone.nearest(space, query, 20), `question ${place}`);
  }
});

test('two collections that are asked in turn do not push each other out, and one that is asked often takes the place of the other', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 2048, dimensions: 64 });
  const held = createSource({ a: vectors, b: vectors });
  const index = openVectorIndex({ source: held.source, memory: 250_000 });
  t.after(() => Promise.all([index.close(), held.close()]));
  for (const name of ['a', 'b']) await held.page(name, 2047);
  const [query = new Float32Array()] = queries(1);
  const ask = async (name: string) => void (await index.nearest(held.spaceOf(name), query, 1));
  for (const name of ['a', 'b', 'a', 'b', 'a', 'b']) await ask(name);
  assert.deepEqual(held.reads, { pages: 1, scans: 3, tail: 0 });
  for (const name of ['b', 'b', 'b']) await ask(name);
  assert.deepEqual(held.reads, { pages: 2, scans: 3, tail: 0 });
});

test('new vectors are read once, whether they are in pages or not', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 3000, dimensions: 64 });
  const held = createSource({ c: vectors });
  const index = openVectorIndex({ source: held.source, memory: 2 ** 26 });
  t.after(() => Promise.all([index.close(), held.close()]));
  const [query = new Float32Array()] = queries(1);
  for (const count of [1, 2, 3, 10, 700, 2100, 2101]) {
    const both = [0, 1].map(() => index.nearest(held.spaceOf('c', count), query, 1));
    for (const near of await Promise.all(both)) {
      assert.ok(near?.seqs.includes(findNearest(vectors.slice(0, count), query, 1)[0] ?? -1), `${count} vectors`);
    }
  }
  assert.deepEqual(held.reads, { pages: 0, scans: 0, tail: 2101 });
  await held.page('c', 2047);
  const near = await index.nearest(held.spaceOf('c'), query, 3000);
  assert.deepEqual([near?.rest, new Set(near?.seqs).size], [Number.NEGATIVE_INFINITY, 3000]);
  assert.deepEqual(held.reads, { pages: 1, scans: 0, tail: 2101 + 952 });
});

test('a question begins again when a page was replaced meanwhile', async (t) => {
  const { vectors, queries } = createVectors('topics', { count: 2048, dimensions: 64 });
  const held = createSource({ c: vectors });
  let isReplaced = false;
  const source: PageSource = {
    ...held.source,
    async readPage(id) {
      if (isReplaced) return held.source.readPage(id);
      isReplaced = true;
      const page = held.pages.get(id);
      held.pages.delete(id);
      if (page !== undefined) held.pages.set(id + 7, page);
      return undefined;
    },
  };
  const index = openVectorIndex({ source, memory: 2 ** 26 });
  t.after(() => Promise.all([index.close(), held.close()]));
  await held.page('c', 2047);
  const [query = new Float32Array()] = queries(1);
  const near = await index.nearest(held.spaceOf('c'), query, 1);
  assert.ok(near?.seqs.includes(findNearest(vectors, query, 1)[0] ?? -1));
});

test('vectors of an earlier model are not mixed with those of the current one', async (t) => {
  const held = createSource({ c: [Float32Array.of(1, 0), Float32Array.of(0, 1)] });
  const index = openVectorIndex({ source: held.source, memory: 2 ** 26 });
  t.after(() => Promise.all([index.close(), held.close()]));
  const query = Float32Array.of(1, 0);
  assert.deepEqual([...((await index.nearest(held.spaceOf('c', 1), query, 9))?.seqs ?? [])], [0]);
  const current = { ...held.spaceOf('c'), firstChange: 0, pagedChange: 0 };
  assert.deepEqual([...((await index.nearest(current, query, 9))?.seqs ?? [])], [1]);
});

test('vectors of zeros and equal vectors are found', async (t) => {
  const vectors = [...Array(40)].map((_, n) => (n < 3 ? new Float32Array(8) : Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0)));
  const held = createSource({ c: vectors });
  const index = openVectorIndex({ source: held.source, memory: 2 ** 26 });
  t.after(() => Promise.all([index.close(), held.close()]));
  const near = await index.nearest(held.spaceOf('c'), vectors[9] as Float32Array, 37);
  assert.deepEqual(
    [...(near?.seqs ?? [])].sort((a, b) => a - b),
    [...Array(37)].map((_, n) => n + 3),
  );
});

test('too many vectors that are not in pages are reported, and the index answers when they are', async (t) => {
  const vectors = Array.from({ length: 66_000 }, (_, n) => Float32Array.of(Math.cos(n), Math.sin(n)));
  const held = createSource({ c: vectors });
  const index = openVectorIndex({ source: held.source, memory: 2 ** 26 });
  t.after(() => Promise.all([index.close(), held.close()]));
  const query = vectors[1] as Float32Array;
  assert.equal(await index.nearest(held.spaceOf('c'), query, 1), undefined);
  await held.page('c', 2047);
  assert.ok((await index.nearest(held.spaceOf('c'), query, 1))?.seqs.includes(1));
});

test('an index that was never asked can be closed', async () => {
  await openVectorIndex({ source: createSource({}).source, memory: 1 }).close();
});

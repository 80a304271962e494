import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openVectorIndex } from './open-vector-index.ts';
import { hashText } from './testing/hash-text.fixture.ts';
import type { CodePage, VectorSpace } from './vector-index.ts';
import { toCode } from './vectors.ts';

const dimensions = 64;
const width = dimensions / 8;

/** Provides collections like a repository. `seq` is the number of the change, and a page has one text. */
function createSource() {
  const texts = new Map<string, string[]>();
  const loads: string[] = [];
  return {
    loads,
    add: (collectionId: string, ...more: string[]) => {
      texts.set(collectionId, [...(texts.get(collectionId) ?? []), ...more]);
    },
    spaceOf: (collectionId: string, firstChange = 0): VectorSpace => ({
      ...{ collectionId, dimensions, firstChange },
      lastChange: texts.get(collectionId)?.length ?? 0,
    }),
    async *load(space: VectorSpace, after: number): AsyncGenerator<CodePage> {
      const all = texts.get(space.collectionId) ?? [];
      for (let change = after + 1; change <= space.lastChange; change++) {
        loads.push(`${space.collectionId} ${change}`);
        yield { seqs: Float64Array.of(change), codes: toCode(hashText(all[change - 1] ?? '', dimensions)) };
      }
    },
  };
}

const question = hashText('green tea', dimensions);

test('codes are loaded on demand, once, and then updated', async (t) => {
  const source = createSource();
  const index = openVectorIndex({ load: source.load, memory: 1_000_000 });
  t.after(() => index.close());
  source.add('c', 'green tea', 'a red fox', 'the deep sea');
  assert.equal((await index.nearest(source.spaceOf('c'), question, 3))?.[0], 1);
  await index.nearest(source.spaceOf('c'), question, 3);
  source.add('c', 'green tea');
  const both = [index.nearest(source.spaceOf('c'), question, 2), index.nearest(source.spaceOf('c'), question, 2)];
  for (const found of await Promise.all(both)) assert.deepEqual([...(found ?? [])].sort(), [1, 4]);
  assert.deepEqual(source.loads, ['c 1', 'c 2', 'c 3', 'c 4']);
});

test('vectors of an earlier model are not mixed with those of the current one', async (t) => {
  const source = createSource();
  const index = openVectorIndex({ load: source.load, memory: 1_000_000 });
  t.after(() => index.close());
  source.add('c', 'green tea');
  assert.deepEqual(await index.nearest(source.spaceOf('c'), question, 3), [1]);
  source.add('c', 'a red fox');
  assert.deepEqual(await index.nearest(source.spaceOf('c', 1), question, 3), [2]);
});

test('memory is limited: the collection unused for longest is dropped and loaded again', async (t) => {
  const source = createSource();
  // The memory holds two tables of the smallest size.
  const index = openVectorIndex({ load: source.load, memory: 2.5 * 256 * (width + 8) });
  t.after(() => index.close());
  for (const name of ['a', 'b', 'c']) source.add(name, 'green tea');
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) {
    assert.deepEqual(await index.nearest(source.spaceOf(name), question, 1), [1], name);
  }
  assert.deepEqual(source.loads, ['a 1', 'b 1', 'c 1', 'b 1']);
});

test('a collection that exceeds the memory limit is reported and does not affect others', async (t) => {
  const source = createSource();
  const index = openVectorIndex({ load: source.load, memory: 1.5 * 256 * (width + 8) });
  t.after(() => index.close());
  source.add('small', 'green tea');
  source.add('large', ...Array.from({ length: 600 }, (_, n) => `text ${n}`));
  assert.equal(await index.nearest(source.spaceOf('large'), question, 1), undefined);
  assert.deepEqual(await index.nearest(source.spaceOf('small'), question, 1), [1]);
});

test('an index that was never searched can be closed', async () => {
  await openVectorIndex({ load: createSource().load, memory: 1 }).close();
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListQuery } from '@quartermaster/contract';
import type { StoredCollection } from '../collection-repository.ts';
import {
  addCollection,
  addRecord,
  claim,
  collectionTests,
  contentsOf,
  foundBy,
  keyOf,
  never,
  newChunk,
  newCollection,
  newId,
  type OpenedRepositories,
  recordOf,
  start,
  sweepAway,
} from './fixtures.suite.ts';

/** Tests the behaviour of every collection repository. */
export function testCollectionRepository(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  test('a collection is returned unchanged, and only in its project', async () => {
    const metadata = { a: 1, b: [null, { c: 'é' }] };
    const collection = await addCollection(open(), { type: 'qa', description: '描述', capacity: 1000, metadata });
    const { collections } = open();
    const found = await collections.find(collection.projectId, collection.id);
    const vectors = { vectors: null, otherVectors: null };
    assert.deepEqual(found, {
      ...collection,
      numRecords: 0,
      numChunks: 0,
      numPendingRecords: 0,
      numKeptRecords: 0,
      ...vectors,
    });
    assert.equal(await collections.find(newId('project'), collection.id), undefined);
  });

  test('the limit collections_of_project accepts exactly as many collections, of two at once one, and refuses one more', async () => {
    const repositories = open();
    const { collections } = repositories;
    const projectId = await repositories.newProject();
    const add = (more: Partial<StoredCollection> = {}) => collections.add(newCollection({ projectId, ...more }), 3);
    const first = newCollection({ projectId });
    assert.deepEqual([await collections.add(first, 3), await add()], [true, true]);
    const two = await Promise.all([add(), add()]);
    assert.deepEqual(two.toSorted(), [false, true], 'one of two at once');
    assert.equal(await add(), false);
    assert.equal(await add({ projectId: newId('project') }), true, 'another project has a limit of its own');
    await collections.markDeleting(projectId, first.id);
    assert.equal(await add(), false, 'one that is being deleted counts');
    await sweepAway(repositories, first);
    assert.equal(await add(), true);
    assert.equal((await collections.list(projectId, {}))?.items.length, 3);
  });

  test('a list selects collections by a part of their name, in any case of A–Z', async () => {
    const { collections } = open();
    const projectId = newId('project');
    for (const name of ['City Library', 'Bücher', '100%']) await addCollection(open(), { projectId, name });
    const find = async (name: string) =>
      (await collections.list(projectId, { name }))?.items.map((collection) => collection.name);
    assert.deepEqual(await find('LIBRARY'), ['City Library']);
    assert.deepEqual(await find('üch'), ['Bücher']);
    assert.deepEqual(await find('%'), ['100%']);
    assert.deepEqual(await find('none'), []);
  });

  it('a collection counts its live records and visible chunks', async (repositories) => {
    const { collection } = repositories;
    await recordOf(repositories, collection, ['one', 'two']);
    const deleted = await recordOf(repositories, collection, ['three']);
    await repositories.chunks.add(collection.projectId, collection.id, newChunk('four'));
    await addRecord(repositories, collection);
    await repositories.jobs.addChunks(await claim(repositories), [newChunk('not visible yet')]);
    await repositories.records.markDeleting(keyOf(deleted), start);
    const { numRecords, numChunks } = (await repositories.collections.find(collection.projectId, collection.id)) ?? {};
    assert.deepEqual({ numRecords, numChunks }, { numRecords: 2, numChunks: 3 });
  });

  test('collections are paged in both orders and both directions', async () => {
    const { collections } = open();
    const projectId = newId('project');
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await addCollection(open(), { projectId })).id);
    const [a, b, c, d, e] = ids;
    const page = async (query: ListQuery) => {
      const found = await collections.list(projectId, query);
      return [found.items.map((item) => item.id), found.hasMore];
    };
    assert.deepEqual(await page({}), [[e, d, c, b, a], false]);
    assert.deepEqual(await page({ limit: 2 }), [[e, d], true]);
    assert.deepEqual(await page({ limit: 2, after: String(d) }), [[c, b], true]);
    assert.deepEqual(await page({ limit: 2, after: String(b) }), [[a], false]);
    assert.deepEqual(await page({ limit: 2, before: String(b) }), [[d, c], true]);
    assert.deepEqual(await page({ limit: 2, before: String(d) }), [[e], false]);
    assert.deepEqual(await page({ limit: 2, order: 'asc' }), [[a, b], true]);
    assert.deepEqual(await page({ limit: 2, order: 'asc', after: String(b) }), [[c, d], true]);
    assert.deepEqual(await page({ limit: 2, order: 'asc', before: String(e) }), [[c, d], true]);
    assert.deepEqual(await page({ after: String(e), before: String(b) }), [[d, c], false]);
    // A cursor is a place: its collection may be of another project, or deleted.
    const foreign = await addCollection(open());
    assert.deepEqual(await page({ after: foreign.id }), [[e, d, c, b, a], false]);
    assert.deepEqual(await page({ before: foreign.id }), [[], false]);
  });

  test('a page of large collections ends early, reports that there are more, and omits none', async () => {
    const { collections } = open();
    const projectId = newId('project');
    // Larger than the limit of the API, so that few collections fill a page.
    const metadata = { a: 'x'.repeat(660 * 1024) };
    for (let n = 0; n < 9; n++) await addCollection(open(), { projectId, metadata: n === 4 ? {} : metadata });
    for (const order of ['asc', 'desc'] as const) {
      const sizes: number[] = [];
      const seen: string[] = [];
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await collections.list(projectId, {
          limit: 100,
          order,
          ...(after === undefined ? {} : { after }),
        });
        assert.ok(page !== undefined);
        seen.push(...page.items.map((item) => item.id));
        sizes.push(page.items.length);
        if (!page.hasMore) break;
      }
      assert.deepEqual(sizes, [4, 5], 'what a page weighs, not how many there are');
      assert.deepEqual([new Set(seen).size, seen.toSorted()], [9, order === 'asc' ? seen : seen.toReversed()]);
      const backwards = await collections.list(projectId, { limit: 100, order, before: String(seen.at(-1)) });
      assert.deepEqual([backwards?.items.length, backwards?.hasMore], [5, true]);
      assert.equal(backwards?.items.at(-1)?.id, seen.at(-2));
    }
    const exact = await collections.list(projectId, { limit: 4 });
    assert.deepEqual([exact?.items.length, exact?.hasMore], [4, true]);
  });

  test('a change affects only the named fields of one collection of the project', async () => {
    const { collections } = open();
    const collection = await addCollection(open(), { metadata: { old: true } });
    const { projectId, id } = collection;
    assert.equal(await collections.change(newId('project'), id, { name: 'stolen', updatedAt: start + 1 }), false);
    assert.equal(await collections.change(projectId, id, { name: 'new', updatedAt: start + 1 }), true);
    assert.equal(await collections.change(projectId, id, { metadata: {}, updatedAt: start + 2 }), true);
    const expected = {
      ...collection,
      name: 'new',
      metadata: {},
      updatedAt: start + 2,
      numRecords: 0,
      numPendingRecords: 0,
      numKeptRecords: 0,
      numChunks: 0,
      vectors: null,
      otherVectors: null,
    };
    assert.deepEqual(await collections.find(projectId, id), expected);
  });

  it('a deleted collection disappears immediately, and the sweep removes all of it', async (repositories) => {
    const { collections, chunks, records, collection } = repositories;
    const { projectId, id } = collection;
    const record = await recordOf(repositories, collection, ['apple', 'pear', 'plum']);
    await chunks.add(projectId, id, newChunk('apple'));
    await addRecord(repositories, collection);
    const job = await claim(repositories);
    await repositories.jobs.addChunks(job, [newChunk('apple')]);

    assert.equal(await collections.markDeleting(newId('project'), id), false);
    assert.equal(await collections.markDeleting(projectId, id), true);
    assert.equal(await collections.markDeleting(projectId, id), false);
    assert.equal(await collections.find(projectId, id), undefined);
    assert.deepEqual((await collections.list(projectId, {}))?.items, []);
    assert.equal(await collections.change(projectId, id, { name: 'x', updatedAt: start }), false);
    assert.equal(await records.add({ ...record, id: newId('record'), createdAt: start, deadlineAt: start }), false);
    assert.equal(await chunks.add(projectId, id, newChunk('late')), 'gone');
    const late = { status: 'ready', numChunks: 1, report: {}, now: start } as const;
    assert.deepEqual(await repositories.jobs.publish(job, late), { kind: 'lost' });

    assert.equal(await collections.findDeleting(), id);
    await collections.sweep(id, 2, never);
    assert.equal(await repositories.countRows(id), 0);
    assert.equal(await collections.findDeleting(), undefined);
    assert.equal(await repositories.jobs.addChunks(job, [newChunk('too late')]), false);
    assert.deepEqual(await foundBy(repositories, collection, ['apple']), []);
    await collections.sweep(id, 2, never);
  });

  test('a stopped sweep continues where it stopped', async () => {
    const repositories = open();
    const { collections } = repositories;
    const counts = new Set<number>();
    for (let stopAt = 1, ended = false; !ended; stopAt++) {
      const collection = await addCollection(repositories);
      await recordOf(repositories, collection, ['a', 'b', 'c', 'd', 'e', 'f']);
      await addRecord(repositories, collection);
      const job = await claim(repositories);
      await collections.markDeleting(collection.projectId, collection.id);
      const sweeping = collections.sweep(collection.id, 2, stoppedAt(stopAt));
      ended = await sweeping.then(
        () => true,
        (error: Error) => {
          assert.equal(error.name, 'AbortError');
          return false;
        },
      );
      counts.add(await repositories.countRows(collection.id));
      // The first two checks belong to its records. After their leases are removed, nothing of the collection is
      // visible.
      if (stopAt > 2) {
        assert.equal(await contentsOf(repositories, collection).then((list) => list?.length), 0);
        assert.deepEqual(await foundBy(repositories, collection, ['a']), []);
        assert.equal(
          await repositories.jobs.addChunks(job, [newChunk('late')]),
          false,
          'work on its records has ended',
        );
      }
      await collections.sweep(collection.id, 2, never);
      assert.equal(await repositories.countRows(collection.id), 0);
    }
    assert.ok(counts.size > 5, `stopped with ${[...counts].join()} rows left`);
  });
}

/** Returns a signal that aborts at its nth check. */
function stoppedAt(look: number): AbortSignal {
  const stop = new AbortController();
  let looks = 0;
  return Object.create(stop.signal, {
    throwIfAborted: {
      value: () => {
        looks += 1;
        if (looks === look) stop.abort();
        stop.signal.throwIfAborted();
      },
    },
  });
}

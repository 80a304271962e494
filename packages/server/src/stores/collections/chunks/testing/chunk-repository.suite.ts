import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxCapacity } from '../../collection-repository.ts';
import {
  addCollection,
  addRecord,
  claim,
  collectionTests,
  contentsOf,
  foundBy,
  getRecord,
  keyOf,
  newChunk,
  newId,
  type OpenedRepositories,
  recordOf,
  start,
  sweepAway,
} from '../../testing/fixtures.suite.ts';

/** Tests the behaviour of every chunk repository. */
export function testChunkRepository(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  test('a directly created chunk is returned unchanged, and only in its project and collection', async () => {
    const { chunks } = open();
    const { projectId, id: collectionId } = await addCollection(open());
    const { words, ordinal, ...chunk } = newChunk('hello world', {
      question: 'q',
      answer: 'a',
      metadata: { n: 1 },
      locator: { page: 2, heading_path: ['A'] },
    });
    assert.equal(await chunks.add(projectId, collectionId, { ...chunk, words, ordinal }), 'added');
    const key = { projectId, collectionId, chunkId: chunk.id };
    assert.deepEqual(await chunks.find(key), {
      ...chunk,
      recordId: null,
      record: null,
      collectionId,
      updatedAt: start,
    });
    assert.equal(await chunks.find({ ...key, projectId: newId('project') }), undefined);
    assert.equal(await chunks.find({ ...key, collectionId: newId('collection') }), undefined);
  });

  test('a full collection accepts no more chunks, even concurrently', async () => {
    const { chunks } = open();
    const { projectId, id } = await addCollection(open(), { capacity: 3 });
    const adds = Array.from({ length: 6 }, () => chunks.add(projectId, id, newChunk('x')));
    const outcomes = await Promise.all(adds);
    assert.deepEqual(outcomes.sort(), ['added', 'added', 'added', 'full', 'full', 'full']);
  });

  it('the limit chunks_of_collection accepts exactly as many chunks and refuses one more', async (repositories) => {
    const { chunks, collection } = repositories;
    const { projectId, id } = collection;
    const record = await recordOf(repositories, collection, ['a']);
    await repositories.enlarge(record, maxCapacity - 2);
    assert.equal(await chunks.add(projectId, id, newChunk('x')), 'added');
    assert.equal((await repositories.collections.find(projectId, id))?.numChunks, maxCapacity);
    assert.equal(await chunks.add(projectId, id, newChunk('y')), 'full');
    await repositories.enlarge(record, -1);
    const waiting = await addRecord(repositories, collection);
    const job = await claim(repositories);
    assert.equal(job.id, waiting.id);
    await repositories.jobs.addChunks(job, [newChunk('b'), newChunk('c')]);
    const published = { status: 'ready', numChunks: 2, report: {}, now: start + 5 } as const;
    assert.deepEqual(await repositories.jobs.publish(job, published), { kind: 'full' });
    assert.equal((await repositories.jobs.publish(job, { ...published, numChunks: 1 })).kind, 'published');
  });

  it('chunks are listed for a collection or a record, even if the cursor is a chunk of another one', async (repositories) => {
    const { chunks, collection } = repositories;
    const record = await recordOf(repositories, collection, ['r1', 'r2', 'r3']);
    const direct = newChunk('direct');
    await chunks.add(collection.projectId, collection.id, direct);
    assert.deepEqual(await contentsOf(repositories, collection), ['r1', 'r2', 'r3', 'direct']);
    assert.deepEqual(await contentsOf(repositories, collection, record.id), ['r1', 'r2', 'r3']);
    const of = { projectId: collection.projectId, collectionId: collection.id, recordId: record.id };
    const page = await chunks.list(of, { limit: 2 });
    assert.deepEqual(
      page?.items.map((chunk) => chunk.content),
      ['r3', 'r2'],
    );
    const next = await chunks.list(of, { limit: 2, after: String(page?.items[1]?.id) });
    assert.deepEqual([next?.items.map((chunk) => chunk.content), next?.hasMore], [['r1'], false]);
    assert.equal((await chunks.list(of, { after: direct.id })).items.length, 3);
  });

  it('a changed chunk is found only by its new words', async (repositories) => {
    const { chunks, collection } = repositories;
    const { projectId, id: collectionId } = collection;
    const chunk = newChunk('apple');
    await chunks.add(projectId, collectionId, chunk);
    const key = { projectId, collectionId, chunkId: chunk.id };
    const text = { content: 'plum tree', numTokens: 2 };
    assert.equal(await chunks.change({ ...key, projectId: newId('project') }, { text, updatedAt: start }), false);
    assert.equal(await chunks.change(key, { text, updatedAt: start + 1 }), true);
    assert.equal(await chunks.change(key, { metadata: { a: 1 }, updatedAt: start + 2 }), true);
    const found = await chunks.find(key);
    assert.deepEqual(
      [found?.content, found?.numTokens, found?.metadata, found?.updatedAt],
      ['plum tree', 2, { a: 1 }, start + 2],
    );
    assert.deepEqual(await foundBy(repositories, collection, ['apple']), []);
    assert.deepEqual(await foundBy(repositories, collection, ['plum']), ['plum tree']);
  });

  it('a page of long chunks ends early, and one of chunks of the usual length does not', async (repositories) => {
    const { chunks, collection } = repositories;
    const of = { projectId: collection.projectId, collectionId: collection.id };
    const add = (content: string) => chunks.add(collection.projectId, collection.id, newChunk(content));
    for (let n = 0; n < 50; n++) await add('字'.repeat(65_000));
    const long = await chunks.list(of, { limit: 100 });
    assert.deepEqual([long?.items.length, long?.hasMore], [44, true]);
    const rest = await chunks.list(of, { limit: 100, after: String(long?.items.at(-1)?.id) });
    assert.deepEqual([rest?.items.length, rest?.hasMore], [6, false]);
  });

  it('a deleted chunk disappears from list, search and count', async (repositories) => {
    const { chunks, collection } = repositories;
    const record = await recordOf(repositories, collection, ['apple', 'pear']);
    const of = { projectId: collection.projectId, collectionId: collection.id };
    const apple = (await chunks.list(of, { order: 'asc' }))?.items[0];
    const key = { ...of, chunkId: String(apple?.id) };
    assert.equal(await chunks.remove({ ...key, projectId: newId('project') }), false);
    const outcomes = await Promise.all([chunks.remove(key), chunks.remove(key)]);
    assert.deepEqual(outcomes.sort(), [false, true]);
    assert.deepEqual(await contentsOf(repositories, collection), ['pear']);
    assert.deepEqual(await foundBy(repositories, collection, ['apple']), []);
    assert.equal((await getRecord(repositories, record)).numChunks, 1);
  });

  it('chunks of a deleted record appear nowhere', async (repositories) => {
    const { chunks, records, collection } = repositories;
    const record = await recordOf(repositories, collection, ['apple']);
    const of = { projectId: collection.projectId, collectionId: collection.id };
    const key = { ...of, chunkId: String((await chunks.list(of, {}))?.items[0]?.id) };
    await records.markDeleting(keyOf(record), start);
    assert.equal(await chunks.find(key), undefined);
    assert.equal(await chunks.change(key, { metadata: {}, updatedAt: start }), false);
    assert.equal(await chunks.remove(key), false);
  });

  it('a search returns the chunks on request, and fails for a collection of another project', async (repositories) => {
    const { chunks, collection } = repositories;
    const other = await addCollection(repositories);
    for (const content of ['red apple', 'red red pear']) {
      await chunks.add(collection.projectId, collection.id, newChunk(content));
    }
    const record = await recordOf(repositories, collection, ['red nut']);
    const search = { collectionId: collection.id, projectId: collection.projectId, words: ['red'], limit: 9 };
    const plain = await chunks.rank(search);
    const seqs = plain.map(({ seq }) => seq);
    const stored = await chunks.fetch([collection.id], seqs);
    assert.equal(stored.size, 3);
    assert.deepEqual(
      await chunks.rank({ ...search, withChunks: true }),
      plain.map((found) => ({ ...found, chunk: stored.get(found.seq) })),
    );
    const isMissing = { name: 'CollectionMissing' };
    await assert.rejects(chunks.rank({ ...search, projectId: other.projectId }), isMissing);
    await assert.rejects(chunks.rank({ ...search, projectId: other.projectId, words: [] }), isMissing);
    assert.deepEqual(await chunks.rank({ ...search, words: [] }), []);
    await repositories.records.markDeleting(keyOf(record), start);
    assert.equal((await chunks.rank({ ...search, withChunks: true })).length, 2);
  });

  it('descriptions of chunks tell which have the same texts, and how large they are', async (repositories) => {
    const { chunks, collection } = repositories;
    const { projectId, id: collectionId } = collection;
    const pair = { question: 'red?', answer: 'yes', numTokens: 2 };
    const added = [
      ...[newChunk('red apple'), newChunk('red pear', { numTokens: 2 }), newChunk('red pear ', { numTokens: 2 })],
      ...[newChunk('red?\nyes', pair), newChunk('red?\nyes', { ...pair, answer: 'no' })],
    ];
    for (const chunk of added) assert.equal(await chunks.add(projectId, collectionId, chunk), 'added');
    const record = await recordOf(repositories, collection, ['red apple', 'red pear']);
    const ranked = await chunks.rank({ collectionId, words: ['red', 'red?'], limit: 9 });
    const seqs = ranked.map(({ seq }) => seq);
    const stored = await chunks.fetch([collectionId], seqs);
    const described = await chunks.describe([...seqs, 2 ** 40]);
    assert.deepEqual([described.size, (await chunks.describe([])).size], [stored.size, 0]);
    const texts = new Map<string | number | undefined, string[]>();
    for (const [seq, { id, recordId, numTokens, weight, text }] of described) {
      const chunk = stored.get(seq);
      assert.deepEqual(
        [id, recordId, numTokens, collectionId],
        [chunk?.id, chunk?.recordId, chunk?.numTokens, chunk?.collectionId],
      );
      assert.ok(weight >= Buffer.byteLength(chunk?.content ?? ''), `weight ${weight}`);
      texts.set(text, [...(texts.get(text) ?? []), `${chunk?.content} ${chunk?.answer}`]);
    }
    for (const group of texts.values()) assert.equal(new Set(group).size, 1, group.join());
    assert.equal(texts.size, new Set([...texts.values()].flat()).size);
    assert.ok([...described.values()].some(({ recordId }) => recordId === record.id));
  });

  it('a search finds chunks of its collection only, the best first, with scores from 0 to 1', async (repositories) => {
    const { chunks, collection } = repositories;
    const other = await addCollection(repositories, { projectId: collection.projectId });
    for (const content of ['red apple', 'red red pear', 'green plum', 'blue fig', 'grey nut']) {
      await chunks.add(collection.projectId, collection.id, newChunk(content));
    }
    await chunks.add(other.projectId, other.id, newChunk('red apple'));
    await addRecord(repositories, other);
    const found = await chunks.rank({ collectionId: collection.id, words: ['red', 'apple'], limit: 2 });
    assert.deepEqual(await foundBy(repositories, collection, ['red', 'apple']), ['red apple', 'red red pear']);
    assert.equal(found.length, 2);
    for (const { score } of found) assert.ok(score > 0 && score <= 1, `score ${score}`);
    assert.ok((found[0]?.score ?? 0) > (found[1]?.score ?? 1));
    assert.deepEqual(await chunks.rank({ collectionId: collection.id, words: ['missing'], limit: 2 }), []);
    await sweepAway(repositories, other);
  });
}

import assert from 'node:assert/strict';
import { contentOfPair } from '../../../extraction/extraction.ts';
import {
  addRecord,
  claim,
  collectionTests,
  contentsOf,
  foundBy,
  newChunk,
  type OpenedRepositories,
  start,
} from '../../testing/fixtures.suite.ts';
import type { NewChunk } from '../chunk-repository.ts';

const published = { status: 'ready', numChunks: 2, report: { format: 'csv' }, now: start + 5 } as const;

function pair(question: string, answer: string, ordinal: number): NewChunk {
  const content = contentOfPair(question, answer);
  const [metadata, locator] = [{ tags: 'ä \ud83d\ude00' }, { row: ordinal + 2 }];
  const words = content
    .split(/\s+/)
    .map((word) => `${word}\u00811`)
    .join(' ');
  return newChunk('', { ordinal, content, question, answer, metadata, locator, words, rowKey: `key of ${question}` });
}

/** Tests the guarantees of every repository for batches of pairs. */
export function testChunkBatches(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  it('a batch of pairs is stored unchanged, and found by its words and its keys', async (repositories) => {
    const { jobs, chunks, collection } = repositories;
    const { id: recordId } = await addRecord(repositories, collection);
    const job = await claim(repositories);
    const pairs = [pair('red apple?', 'été \u4eac', 0), pair('green pear?', 'yes', 1)];
    assert.equal(await jobs.addChunks(job, pairs), true);
    assert.deepEqual(await contentsOf(repositories, collection), []);
    await jobs.publish(job, published);
    assert.deepEqual(await foundBy(repositories, collection, ['pear?']), [pairs[1]?.content]);
    const of = { collectionId: collection.id, id: null };
    assert.deepEqual([...(await jobs.findExistingKeys(of, ['key of red apple?', 'another']))], ['key of red apple?']);
    const key = { projectId: collection.projectId, collectionId: collection.id };
    const page = await chunks.list(key, { order: 'asc', limit: 10 });
    const stored = pairs.map(({ ordinal: _, words: __, rowKey: ___, createdAt, ...chunk }) => {
      const record = { title: '', fileId: null, fileName: null, url: null };
      return { ...chunk, recordId, record, collectionId: collection.id, createdAt, updatedAt: createdAt };
    });
    assert.deepEqual(page?.items, stored);
  });

  it('nothing of a batch is stored when the claim is lost or one of its chunks cannot be stored', async (repositories) => {
    const { jobs, collection } = repositories;
    await addRecord(repositories, collection);
    const job = await claim(repositories);
    const good = pair('red apple?', 'yes', 0);
    assert.equal(await jobs.addChunks({ ...job, token: 'another' }, [good]), false);
    await assert.rejects(jobs.addChunks(job, [good, { ...pair('green pear?', 'no', 1), id: good.id }]));
    assert.equal(await jobs.addChunks(job, [good]), true);
    await jobs.publish(job, { ...published, numChunks: 1 });
    assert.deepEqual(await contentsOf(repositories, collection), [good.content]);
    assert.deepEqual(await foundBy(repositories, collection, ['pear?']), []);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchOf } from '../extraction/batch.fixture.ts';
import { contentOfPair, type ExtractedChunk, MalformedBatch } from '../extraction/extraction.ts';
import {
  addCollection,
  addRecord,
  claim,
  contentsOf,
  foundBy,
  newChunk,
  newId,
  type OpenedRepositories,
  start,
  sweepAway,
} from './fixtures.suite.ts';
import type { PackedChunks } from './record-job-repository.ts';

const made = { status: 'ready', numChunks: 2, report: { format: 'csv' }, now: start + 5 } as const;

function pair(question: string, answer: string, ordinal: number): ExtractedChunk {
  const content = contentOfPair(question, answer);
  const [metadata, locator] = [{ tags: 'ä \ud83d\ude00' }, { row: ordinal + 2 }];
  const words = content.split(/\s+/).join(' ');
  return { ordinal, content, question, answer, numTokens: 4, metadata, locator, words, rowKey: `key of ${question}` };
}

function packed(...chunks: readonly ExtractedChunk[]): PackedChunks {
  const ids = chunks.map(() => newId('chunk'));
  return { batch: batchOf(...chunks), ids, createdAt: start, length: chunks.length };
}

/** What every repository promises of chunks that come packed (ADR 0056). */
export function testPackedChunks(open: () => OpenedRepositories): void {
  test('packed chunks are stored, found and known as those of a list', async () => {
    const repositories = open();
    const { jobs, chunks } = repositories;
    const pairs = [pair('red apple?', 'été \u4eac', 0), pair('green pear?', 'yes\0', 1)];
    const read = [];
    for (const inList of [true, false]) {
      const collection = await addCollection(repositories);
      await addRecord(repositories, collection);
      const job = await claim(repositories);
      const list = pairs.map((each) =>
        newChunk('', {
          ...each,
          content: each.content.replace('\0', '\ufffd'),
          answer: each.answer?.replace('\0', '\ufffd') ?? null,
        }),
      );
      assert.equal(await jobs.addChunks(job, inList ? list : packed(...pairs)), true);
      assert.deepEqual(await contentsOf(repositories, collection), []);
      await jobs.publish(job, made);
      assert.equal((await foundBy(repositories, collection, ['pear?'])).length, 1);
      const of = { collectionId: collection.id, id: null };
      assert.deepEqual([...(await jobs.findTaken(of, ['key of red apple?', 'another']))], ['key of red apple?']);
      const page = await chunks.list(
        { projectId: collection.projectId, collectionId: collection.id },
        { order: 'asc', limit: 10 },
      );
      read.push(page?.items.map(({ id: _, recordId: __, collectionId: ___, ...rest }) => rest));
      await sweepAway(repositories, collection);
    }
    assert.equal(read[0]?.length, 2);
    assert.deepEqual(read[1], read[0]);
  });

  test('of a batch for a claim that is lost, or that is malformed, nothing is stored', async () => {
    const repositories = open();
    const { jobs } = repositories;
    const collection = await addCollection(repositories);
    await addRecord(repositories, collection);
    const job = await claim(repositories);
    const good = pair('red apple?', 'yes', 0);
    const forged = { ...pair('green pear?', 'no', 1), locator: 'here' as never };
    assert.equal(await jobs.addChunks({ ...job, token: 'another' }, packed(good)), false);
    await assert.rejects(jobs.addChunks(job, packed(good, forged)), MalformedBatch);
    assert.equal(await jobs.addChunks(job, packed(good)), true);
    await jobs.publish(job, { ...made, numChunks: 1 });
    assert.deepEqual(await contentsOf(repositories, collection), [good.content]);
    assert.deepEqual(await foundBy(repositories, collection, ['pear?']), []);
    await sweepAway(repositories, collection);
  });
}

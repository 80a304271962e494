import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addCollection,
  addRecord,
  claim,
  claimAt,
  keyOf,
  newChunk,
  newId,
  start,
  sweepAway,
} from '../../collections/testing/fixtures.suite.ts';
import type { NewFile } from '../../files/file-repository.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createFileRepository } from './file-repository.ts';
import { createCollectionRepositories } from './records/collection-repositories.ts';

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`the bytes stored for records count in the usage of their project until they are deleted: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const repositories = createCollectionRepositories(database);
    const files = createFileRepository(database);
    const collection = await addCollection(repositories);
    const record = await addRecord(repositories, collection);
    const { projectId } = record;
    const used = () => files.bytesKept(projectId);
    async function ingest(storedBytes: number) {
      const job = await claim(repositories);
      await repositories.jobs.addChunks(job, [newChunk('text')]);
      const published = { status: 'ready', numChunks: 1, storedBytes, report: {}, now: start } as const;
      await repositories.jobs.publish(job, published);
    }
    await ingest(700);
    assert.equal(await used(), 700);

    const bytes = (size: number): NewFile => ({
      file: {
        ...{ id: newId('file'), projectId, name: 'a.txt', purpose: 'record_file', extension: 'txt', createdAt: start },
        ...{ bytes: size, sha256: newId('blob'), blobId: newId('blob') },
      },
      claim: null,
    });
    const limits = { maxProjectBytes: 1_000, maxFiles: null };
    const outcomes = await files.add([bytes(301), bytes(300)], limits, async () => true);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['no_room', 'added'],
    );
    assert.equal(await used(), 1_000);

    await repositories.records.markDeleting(keyOf(record), start);
    assert.equal(await used(), 1_000, 'its chunks are still stored');
    const sweep = await repositories.jobs.claim(claimAt(start, { kind: 'sweep' }));
    assert.ok(sweep);
    const part = { limit: 100, leaseUntil: start + 1_000 };
    while ((await repositories.jobs.sweep(sweep, part)) === 'more');
    assert.equal(await used(), 300);
  });

  test(`chunks that are added, changed or deleted directly change what their project uses: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const repositories = createCollectionRepositories(database);
    const files = createFileRepository(database);
    const collection = await addCollection(repositories);
    const { projectId, id: collectionId } = collection;
    const used = () => files.bytesKept(projectId);
    const chunkKey = (chunkId: string) => ({ projectId, collectionId, chunkId });
    const metadata = JSON.stringify({}).length;

    const direct = [newChunk('é'.repeat(10)), newChunk('other')] as const;
    for (const chunk of direct) assert.equal(await repositories.chunks.add(projectId, collectionId, chunk), 'added');
    assert.equal(await used(), 20 + 5 + 2 * metadata);
    assert.deepEqual(await files.wrongUsages(), []);
    const text = { content: 'x'.repeat(100), numTokens: 1 };
    await repositories.chunks.change(chunkKey(direct[0].id), { text, updatedAt: start });
    assert.equal(await used(), 100 + 5 + 2 * metadata);
    await repositories.chunks.remove(chunkKey(direct[1].id));
    assert.equal(await used(), 100 + metadata);
    assert.deepEqual(await files.wrongUsages(), []);

    await database.write.updateTable('project_usage').set({ chunk_bytes: 7 }).execute();
    const [wrong] = await files.wrongUsages();
    assert.deepEqual([wrong?.foundChunkBytes, wrong?.expectedChunkBytes], [7, 100 + metadata]);
    await files.correctUsage(projectId);
    assert.deepEqual(await files.wrongUsages(), []);
    assert.equal(await used(), 100 + metadata);

    await addRecord(repositories, collection);
    const job = await claim(repositories);
    const ofRecord = newChunk('text');
    await repositories.jobs.addChunks(job, [ofRecord]);
    await repositories.jobs.publish(job, { status: 'ready', numChunks: 1, storedBytes: 50, report: {}, now: start });
    await repositories.chunks.change(chunkKey(ofRecord.id), { text, updatedAt: start });
    assert.equal(await used(), 100 + metadata + 50 + 96);
    await repositories.chunks.remove(chunkKey(ofRecord.id));
    assert.equal(await used(), 100 + metadata + 50 - 4 - metadata);

    await sweepAway(repositories, collection);
    assert.equal(await used(), 0);
  });
}

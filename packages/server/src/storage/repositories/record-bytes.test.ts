import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import type { NewRow } from '../../stores/collections/records/record-rows.ts';
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
} from '../../stores/collections/testing/fixtures.suite.ts';
import type { NewFile } from '../../stores/files/file-repository.ts';
import type { RecordJob } from '../../stores/ingestion/record-job-repository.ts';
import { StoredTooMuch } from '../../stores/ingestion/stored-bytes.ts';
import { bytesOfCollection, bytesOfFileName, bytesOfRecord } from '../database/counted-bytes.ts';
import type { Database } from '../database/database.ts';
import { type DatabaseKind, temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createFileRepository } from './file-repository.ts';
import { createCollectionRepositories } from './records/collection-repositories.ts';

const metadata = JSON.stringify({}).length;
const ready = { status: 'ready', numChunks: 1, report: {}, now: start, since: start } as const;
const failure = { failure: { code: 'no_rows', message: 'No row is a pair.' }, now: start } as const;

/** A row that takes 1,000 bytes. */
function newRow(row: number): NewRow {
  const fields = { question: '', answer: '', metadata: {} };
  const excerpt = 'x'.repeat(1_000 - JSON.stringify(fields).length - 'empty_answer'.length);
  return { id: newId('row'), sheet: null, row, column: null, code: 'empty_answer', excerpt, fields };
}

/** The bytes of the texts of all collections and records, and of the names of all files. */
async function textsOf({ read }: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select
    (select coalesce(sum(${bytesOfRecord}), 0) from record) + (select coalesce(sum(${bytesOfCollection}), 0) from collection)
    + (select coalesce(sum(${bytesOfFileName}), 0) from file) as bytes`.execute(read);
  return Number(rows[0]?.bytes);
}

/** The bytes of the texts of `newCollection`, and the most that those of two records of these tests take. */
const ofCollection = 'A name'.length + 3 * metadata;
const ofRecords = 100;

/** Opens a collection in a project with a quota for files, chunks and rows. The texts of records and collections fit in addition. */
async function openProject(t: TestContext, kind: DatabaseKind, quota: number | null = null) {
  const { database, close } = await temporaryDatabases[kind]();
  t.after(close);
  const repositories = createCollectionRepositories(database, quota === null ? null : quota + ofCollection + ofRecords);
  const files = createFileRepository(database);
  const collection = await addCollection(repositories);
  const { projectId } = collection;
  const { jobs, records } = repositories;
  /** Writes a generation with one chunk of `bytes`, and rows of 1,000 bytes. */
  async function write(job: RecordJob, bytes: number, rows = 0): Promise<void> {
    if (rows > 0)
      await jobs.addRows(
        job,
        Array.from({ length: rows }, (_, row) => newRow(row)),
      );
    await jobs.addChunks(job, [newChunk('x'.repeat(bytes - metadata))]);
  }
  async function sweep(): Promise<void> {
    for (;;) {
      const held = await jobs.claim(claimAt(start, { kind: 'sweep' }));
      if (held === undefined) return;
      while ((await jobs.sweep(held, { limit: 2, leaseUntil: start + 1_000 })) === 'more');
    }
  }
  const source = { type: 'text', title: 'new', content: 'x', fileId: null, url: null, textSplitter: null } as const;
  return {
    ...{ database, repositories, files, collection, projectId, jobs, records, write, sweep },
    /** The bytes of files, chunks and rows. */
    used: async () => (await files.bytesKept(projectId)) - (await textsOf(database)),
    add: () => addRecord(repositories, collection),
    /** Claims a record and removes what an earlier attempt has left, as a worker does. */
    async begin(): Promise<RecordJob> {
      const job = await claim(repositories);
      while ((await jobs.sweep(job, { limit: 2, leaseUntil: start + 30_000 })) === 'more');
      return job;
    },
    reprocess: (record: Parameters<typeof keyOf>[0]) =>
      records.change(keyOf(record), { remake: { source, deadlineAt: start + 1_000_000 }, updatedAt: start }),
    assertRight: async () => assert.deepEqual(await files.wrongUsages(), []),
  };
}

for (const name of Object.keys(temporaryDatabases) as DatabaseKind[]) {
  test(`the bytes stored for records count in the usage of their project until they are deleted: ${name}`, async (t) => {
    const { files, jobs, records, projectId, used, add, begin, write, sweep, assertRight } = await openProject(t, name);
    const record = await add();
    const job = await begin();
    await write(job, 700);
    await jobs.publish(job, ready);
    assert.equal(await used(), 700);

    const bytes = (size: number): NewFile => ({
      file: {
        ...{ id: newId('file'), projectId, name: 'a.txt', purpose: 'record_file', extension: 'txt', createdAt: start },
        ...{ bytes: size, sha256: newId('blob'), blobId: newId('blob') },
      },
      claim: null,
    });
    const texts = (await files.bytesKept(projectId)) - 700 + 'a.txt'.length;
    const limits = { maxProjectBytes: 1_000 + texts, maxFiles: null };
    const outcomes = await files.add([bytes(301), bytes(300)], limits, async () => true);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['no_room', 'added'],
    );
    assert.equal(await used(), 1_000);

    await records.markDeleting(keyOf(record), start);
    assert.equal(await used(), 1_000, 'its chunks are still stored');
    await sweep();
    assert.equal(await used(), 300);
    await assertRight();
  });

  test(`the reported rows of a record that fails or is cancelled count until the next attempt deletes them: ${name}`, async (t) => {
    const project = await openProject(t, name);
    const { jobs, records, used, write, sweep, begin, reprocess, assertRight } = project;
    const record = await project.add();
    const failed = await begin();
    await write(failed, 300, 3);
    assert.equal(await jobs.fail(failed, failure.failure, { report: null, now: start }), true);
    assert.equal(await used(), 3_000);
    await sweep();
    assert.equal(await used(), 3_000, 'the rows are listed');
    await assertRight();

    await reprocess(record);
    const cancelled = await begin();
    assert.equal(await used(), 0);
    await write(cancelled, 300, 2);
    assert.equal(await records.cancel(keyOf(record), failure), true);
    assert.equal(await used(), 2_000);
    await assertRight();

    await reprocess(record);
    const job = await begin();
    await write(job, 300, 1);
    await jobs.publish(job, ready);
    assert.equal(await used(), 1_300);
    await records.markDeleting(keyOf(record), start);
    await sweep();
    assert.equal(await used(), 0);
    await assertRight();
  });

  test(`rows that exceed the quota are refused, so that failed records cannot exceed it together: ${name}`, async (t) => {
    const { jobs, used, add, begin, write, assertRight } = await openProject(t, name, 5_000);
    for (const rows of [3, 2]) {
      await add();
      const job = await begin();
      await write(job, 10, rows).catch(() => {});
      await jobs.fail(job, failure.failure, { report: null, now: start });
    }
    assert.equal(await used(), 5_000);
    await add();
    await assert.rejects(write(await begin(), 10, 1), StoredTooMuch);
    assert.equal(await used(), 5_000);
    await assertRight();
  });

  test(`two records that are processed at the same time do not exceed the quota together: ${name}`, async (t) => {
    const { jobs, used, add, begin, write, sweep, assertRight } = await openProject(t, name, 1_000);
    for (let n = 0; n < 2; n++) await add();
    const both = [await begin(), await begin()];
    for (const job of both) await write(job, 600);
    const ended = await Promise.allSettled(both.map((job) => jobs.publish(job, ready)));
    assert.deepEqual(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const [refused] = ended.filter((end) => end.status === 'rejected');
    assert.ok(refused?.reason instanceof StoredTooMuch);
    assert.equal(refused.reason.failure.code, 'quota_exceeded');
    for (const job of both) await jobs.fail(job, refused.reason.failure, { report: null, now: start });
    await sweep();
    assert.equal(await used(), 600);
    await assertRight();
  });

  test(`two chunks that are added at the same time do not exceed the quota together: ${name}`, async (t) => {
    const { repositories, collection, used, assertRight } = await openProject(t, name, 1_000);
    const add = () => repositories.chunks.add(collection.projectId, collection.id, newChunk('x'.repeat(598)));
    const added = await Promise.allSettled([add(), add()]);
    assert.deepEqual(added.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal(await used(), 600);
    await assertRight();
  });

  test(`a record that is processed again needs only the difference, also for its rows: ${name}`, async (t) => {
    const { jobs, used, add, begin, write, sweep, reprocess, assertRight } = await openProject(t, name, 6_000);
    const record = await add();
    for (const [bytes, rows, isStored] of [
      [3_000, 2, true],
      [3_000, 2, true],
      [4_000, 2, true],
      [4_000 + ofRecords, 2, false],
      [2_000, 4, false],
      [1_000, 1, true],
    ] as const) {
      const job = await begin();
      const written = write(job, bytes, rows).then(() => jobs.publish(job, ready));
      if (isStored) assert.equal((await written).kind, 'published');
      else await assert.rejects(written, StoredTooMuch);
      if (!isStored) await jobs.fail(job, failure.failure, { report: null, now: start });
      await sweep();
      assert.ok((await used()) <= 6_000);
      if (isStored) assert.equal(await used(), bytes + rows * 1_000);
      await assertRight();
      await reprocess(record);
    }
  });

  test(`a record whose pairs are replaced or deleted keeps no part of its charge: ${name}`, async (t) => {
    const { repositories, collection, jobs, used, begin, sweep, assertRight } = await openProject(t, name);
    const pair = (n: number) =>
      newChunk(`Q: q${n}\nA: the answer`, {
        ...{ ordinal: n, rowKey: `q${n}`, question: `q${n}`, answer: 'the answer', words: 'q the answer'.repeat(9) },
        ...{ locator: { row: n }, boxes: [] },
      });
    await addRecord(repositories, collection);
    const first = await begin();
    const chunks = [pair(1), pair(2), pair(3)];
    await jobs.addChunks(first, chunks);
    await jobs.publish(first, { ...ready, numChunks: 3 });
    const whole = await used();
    await addRecord(repositories, collection, { onDuplicate: 'replace' });
    const second = await begin();
    await jobs.addChunks(second, [pair(1)]);
    await jobs.publish(second, ready);
    assert.equal(await used(), whole);
    await assertRight();
    await sweep();
    const page = await repositories.chunks.list({ ...collection, collectionId: collection.id }, { limit: 100 });
    for (const { id } of page.items) {
      const key = { projectId: collection.projectId, collectionId: collection.id, chunkId: id };
      assert.equal(await repositories.chunks.remove(key), true);
    }
    assert.equal(await used(), 0);
    await assertRight();
  });

  test(`fsck finds and repairs wrong sums of records, also when they are right together: ${name}`, async (t) => {
    const { database, files, projectId, jobs, used, add, begin, write, assertRight } = await openProject(t, name);
    const records = [await add(), await add()];
    for (const _ of records) {
      const job = await begin();
      await write(job, 500, 2);
      await jobs.publish(job, ready);
    }
    await assertRight();
    const change = (n: number, set: { stored_bytes?: number; row_bytes?: number }) =>
      database.write
        .updateTable('record')
        .set(set)
        .where('id', '=', records[n]?.id ?? '')
        .execute();
    const wrongOnes = async () => (await files.wrongUsages()).map((wrong) => [wrong.projectId, wrong.wrongRecords]);
    await change(0, { stored_bytes: 400 });
    await change(1, { stored_bytes: 600 });
    assert.deepEqual(await wrongOnes(), [[projectId, 2]]);
    await files.correctUsage(projectId);
    await assertRight();
    await change(1, { row_bytes: 7 });
    assert.deepEqual(await wrongOnes(), [[projectId, 1]]);
    await files.correctUsage(projectId);
    await assertRight();
    await sql`update project_usage set record_bytes = 3`.execute(database.write);
    const [wrong] = await files.wrongUsages();
    assert.deepEqual(
      [wrong?.foundRecordBytes, wrong?.expectedRecordBytes, wrong?.wrongRecords],
      [3, 5_000 + (await textsOf(database)) - ofCollection, 0],
    );
    await files.correctUsage(projectId);
    await assertRight();
    assert.equal(await used(), 5_000);
  });

  test(`chunks that are added, changed or deleted directly change what their project uses: ${name}`, async (t) => {
    const { database, repositories, files, collection, used } = await openProject(t, name);
    const { projectId, id: collectionId } = collection;
    const chunkKey = (chunkId: string) => ({ projectId, collectionId, chunkId });

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
    await repositories.jobs.publish(job, ready);
    await repositories.chunks.change(chunkKey(ofRecord.id), { text, updatedAt: start });
    assert.equal(await used(), 100 + metadata + 100 + metadata);
    await repositories.chunks.remove(chunkKey(ofRecord.id));
    assert.equal(await used(), 100 + metadata);

    await sweepAway(repositories, collection);
    assert.equal(await used(), 0);
  });
}

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  addCollection,
  addRecord,
  claim,
  claimAt,
  keyOf,
  never,
  newCollection,
  newId,
  newRecord,
  publish,
  start,
} from '../../stores/collections/testing/fixtures.suite.ts';
import type { NewFile } from '../../stores/files/file-repository.ts';
import { countedTexts } from '../database/counted-bytes.ts';
import { fileTables } from '../database/migrations/0001-baseline/access-tables.ts';
import { collectionTables } from '../database/migrations/0001-baseline/collection-tables.ts';
import { type DatabaseKind, temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createFileRepository } from './file-repository.ts';
import { createCollectionRepositories } from './records/collection-repositories.ts';

/** The columns for texts that do not count. Their values come from a short list, or have their own limit. */
const uncounted: Readonly<Record<string, readonly string[]>> = {
  collection: ['embedding_model_id'],
  record: ['chunking_kept', 'error_code', 'metadata_reached', 'on_duplicate', 'rechunked_from'],
  artifact: ['media_type'],
  idempotency: ['answer'],
  answer_key: ['secret'],
};

test('every column for texts of the stores counts in the quota, or is listed as one with few values', () => {
  const found = [...fileTables, ...collectionTables].flatMap((statement) => {
    const table = /^create table (\w+)/.exec(statement)?.[1];
    const texts = [...statement.matchAll(/^ {4}(\w+) text\b/gm)].map(([, column]) => `${table}.${column}`);
    return table === undefined ? [] : texts;
  });
  const listed = [countedTexts, uncounted].flatMap((tables) =>
    Object.entries(tables).flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`)),
  );
  assert.ok(found.length > 30);
  assert.deepEqual(listed.toSorted(), found.toSorted());
});

const long = { note: 'é'.repeat(500) };
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
/** The bytes of a collection of `newCollection`, and of a record of `newRecord`. */
const collectionBytes = 'A name'.length + 3 * bytesOf({});
const recordBytes = 'some text'.length + bytesOf({});

async function openProject(t: TestContext, kind: DatabaseKind, quota: number | null = null) {
  const { database, close } = await temporaryDatabases[kind]();
  t.after(close);
  const repositories = createCollectionRepositories(database, quota);
  const files = createFileRepository(database);
  const collection = await addCollection(repositories);
  const used = () => files.bytesKept(collection.projectId);
  return {
    ...{ database, repositories, files, collection, used },
    async assertUsed(bytes: number) {
      assert.equal(await used(), bytes);
      assert.deepEqual(await files.wrongUsages(), []);
    },
    async sweep() {
      for (;;) {
        const held = await repositories.jobs.claim(claimAt(start, { kind: 'sweep' }));
        if (held === undefined) return;
        while ((await repositories.jobs.sweep(held, { limit: 2, leaseUntil: start + 1_000 })) === 'more');
      }
    },
  };
}

const noRoom = { code: 'RESOURCE_LIMIT_REACHED' };

for (const kind of Object.keys(temporaryDatabases) as DatabaseKind[]) {
  test(`the texts of a collection count until it is removed: ${kind}`, async (t) => {
    const { repositories, collection, assertUsed } = await openProject(t, kind);
    const { collections } = repositories;
    const { projectId, id } = collection;
    await assertUsed(collectionBytes);
    assert.equal(await collections.change(projectId, id, { metadata: long, updatedAt: start }), true);
    await assertUsed(collectionBytes - 2 + bytesOf(long));
    assert.equal(await collections.change(projectId, id, { description: 'été', updatedAt: start }), true);
    await assertUsed(collectionBytes - 2 + bytesOf(long) + 5);
    await addRecord(repositories, collection, { metadata: { of: 'a record' } });
    await collections.markDeleting(projectId, id);
    await collections.sweep(id, 10, never);
    await assertUsed(0);
  });

  test(`the texts of a record count when it is created, changed, processed, refused and deleted: ${kind}`, async (t) => {
    const { repositories, collection, assertUsed, sweep } = await openProject(t, kind);
    const { records, jobs } = repositories;
    const record = await addRecord(repositories, collection, { metadata: { note: 'x'.repeat(500) } });
    const created = collectionBytes + recordBytes - 2 + bytesOf({ note: 'x'.repeat(500) });
    await assertUsed(created);
    assert.equal(await records.change(keyOf(record), { metadata: {}, updatedAt: start }), true);
    const own = collectionBytes + recordBytes;
    await assertUsed(own);

    const job = await claim(repositories);
    const ingested = { status: 'ready', numChunks: 1, report: { format: 'text' }, now: start } as const;
    assert.equal(await jobs.saveCheckpoint(job, ingested), true);
    await assertUsed(own + bytesOf(ingested));
    await publish(repositories, job, ['a chunk']);
    const chunk = 'a chunk'.length + bytesOf({});
    await assertUsed(own + bytesOf(ingested.report) + chunk);

    const source = { ...newRecord(collection), title: 'A new title' };
    const remake = { source, deadlineAt: start + 1_000_000, encryptedPassword: 'a password' };
    assert.equal(await records.change(keyOf(record), { remake, updatedAt: start }), true);
    await assertUsed(own + 'A new title'.length + 'a password'.length + chunk);
    const failure = { code: 'empty_document', message: 'The document is empty.', details: [] };
    const report = { format: 'text', warnings: ['a warning'] };
    assert.equal(await jobs.fail(await claim(repositories), failure, { report, now: start }), true);
    const failed = failure.message.length + bytesOf(failure.details) + bytesOf(report);
    await assertUsed(own + 'A new title'.length + chunk + failed);
    await records.markDeleting(keyOf(record), start);
    await sweep();
    await assertUsed(collectionBytes);
  });

  test(`records, collections and their changes that exceed the quota are refused and leave nothing: ${kind}`, async (t) => {
    const quota = collectionBytes + 2 * recordBytes + 400;
    const { repositories, collection, assertUsed } = await openProject(t, kind, quota);
    const { records, collections } = repositories;
    const record = await addRecord(repositories, collection);
    const big = newRecord(collection, { metadata: { note: 'x'.repeat(500) } });
    await assert.rejects(records.add(big), noRoom);
    assert.equal(await records.find(keyOf(big)), undefined);
    await assert.rejects(records.change(keyOf(record), { metadata: big.metadata, updatedAt: start }), noRoom);
    await assert.rejects(
      collections.add(newCollection({ ...collection, id: newId('collection'), metadata: long }), 9),
      noRoom,
    );
    const { projectId, id } = collection;
    await assert.rejects(collections.change(projectId, id, { metadata: long, updatedAt: start }), noRoom);
    await assertUsed(collectionBytes + recordBytes);
    const most = { note: 'x'.repeat(400 - bytesOf({ note: '' }) + 2) };
    assert.equal(await records.add({ ...big, metadata: most }), true);
    await assertUsed(quota);
    await assert.rejects(addRecord(repositories, collection), noRoom);
    assert.equal(await records.change(keyOf(big), { metadata: {}, updatedAt: start }), true, 'it shrinks');
  });

  test(`the report of a record that fails is left out when it would exceed the quota: ${kind}`, async (t) => {
    const { repositories, collection, assertUsed } = await openProject(t, kind, 1_000);
    const record = await addRecord(repositories, collection);
    const failure = { code: 'empty_document', message: 'The document is empty.' };
    const report = { warnings: ['x'.repeat(1_000)] };
    await repositories.jobs.fail(await claim(repositories), failure, { report, now: start });
    assert.equal((await repositories.records.find(keyOf(record)))?.report, null);
    await assertUsed(collectionBytes + recordBytes + failure.message.length);
  });

  test(`the name of a file counts until the file is deleted, also when the file is empty: ${kind}`, async (t) => {
    const { files, collection, assertUsed } = await openProject(t, kind);
    const { projectId } = collection;
    const named = (name: string): NewFile => {
      const blob = { bytes: 0, sha256: newId('blob'), blobId: newId('blob') };
      const of = {
        id: newId('file'),
        projectId,
        purpose: 'record_file' as const,
        extension: 'txt' as const,
        createdAt: start,
      };
      return { file: { ...of, ...blob, name }, claim: null };
    };
    const limits = { maxProjectBytes: collectionBytes + 20, maxFiles: null };
    const [first, ...others] = ['é.txt', `${'x'.repeat(11)}.txt`, 'y.txt'].map(named) as [NewFile, NewFile, NewFile];
    const outcomes = await files.add([first, ...others], limits, async () => true);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.kind),
      ['added', 'no_room', 'added'],
    );
    await assertUsed(collectionBytes + 6 + 5);
    await files.startDelete(projectId, first.file.id);
    await assertUsed(collectionBytes + 5);
  });

  test(`fsck finds and repairs a wrong sum of texts: ${kind}`, async (t) => {
    const { database, files, repositories, collection, assertUsed } = await openProject(t, kind);
    await addRecord(repositories, collection);
    await database.write.updateTable('project_usage').set({ text_bytes: 3, record_bytes: 4 }).execute();
    const [wrong] = await files.wrongUsages();
    assert.deepEqual([wrong?.foundTextBytes, wrong?.expectedTextBytes], [3, collectionBytes]);
    assert.deepEqual([wrong?.foundRecordBytes, wrong?.expectedRecordBytes], [4, recordBytes]);
    await files.correctUsage(collection.projectId);
    await assertUsed(collectionBytes + recordBytes);
  });
}

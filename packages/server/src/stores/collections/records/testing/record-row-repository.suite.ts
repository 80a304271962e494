import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordJob } from '../../../ingestion/record-job-repository.ts';
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
  start,
  sweepAway,
} from '../../testing/fixtures.suite.ts';
import type { NewRecord } from '../record-repository.ts';
import type { NewRow } from '../record-rows.ts';

const published = (numChunks: number, now = start + 5) =>
  ({ status: 'ready', numChunks, report: {}, now, since: start }) as const;

function newRow(row: number, code: NewRow['code'] = 'empty_answer'): NewRow {
  const fields = { question: `q${row}`, answer: '', metadata: { tags: 'x' } };
  return { id: newId('row'), sheet: 'S', row, column: 'B', code, excerpt: `q${row}`, fields };
}

/** Returns chunks whose content equals their key. */
const keyed = (...keys: string[]) => keys.map((key, ordinal) => newChunk(key, { ordinal, rowKey: key }));

/** Tests the behaviour of every repository of rows and of the keys of pairs. */
export function testRecordRowRepository(open: () => OpenedRepositories): void {
  testRows(open);
  testKeys(open);
  testEnteredKeys(open);
}

function testRows(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  const placesOf = async (record: NewRecord, status: 'rejected' | 'duplicate' = 'rejected') =>
    (await open().rows.list(keyOf(record), status, { order: 'asc', limit: 100 }))?.items.map(({ row }) => row);

  test('rows are returned completely after their record is ready, by status and in pages', async () => {
    const { jobs, rows, ...repositories } = open();
    const collection = await addCollection(open());
    const record = await addRecord(open(), collection);
    const job = await claim(open());
    const first = newRow(2);
    await jobs.addRows(job, [first, newRow(3), newRow(4, 'duplicate_in_file'), newRow(5)]);
    assert.deepEqual(await placesOf(record), []);
    await jobs.publish(job, published(0));
    assert.deepEqual([await placesOf(record), await placesOf(record, 'duplicate')], [[2, 3, 5], [4]]);
    const page = await rows.list(keyOf(record), 'rejected', { order: 'asc', limit: 2 });
    assert.deepEqual(page?.items[0], { ...first, status: 'rejected' });
    assert.deepEqual([page?.items.length, page?.hasMore], [2, true]);
    assert.equal((await rows.list(keyOf(record), 'rejected', { after: newId('row') })).items.length, 3);
    const stranger = { ...keyOf(record), projectId: newId('project') };
    assert.deepEqual((await rows.list(stranger, 'rejected', {}))?.items, []);
    await sweepAway({ jobs, rows, ...repositories }, collection);
    assert.equal(await open().countRows(collection.id), 0);
  });

  it('rows of a failed attempt are shown; the next attempt replaces them, and a lost claim adds none', async (repositories) => {
    const { jobs, records, collection } = repositories;
    const record = await addRecord(repositories, collection);
    const job = await claim(repositories);
    await jobs.addRows(job, [newRow(2)]);
    await jobs.fail(job, { code: 'no_rows', message: 'None.' }, { report: null, now: start });
    const sweep = { kind: 'sweep', token: newId('run') } as const;
    const sweeping = await claim(repositories, start + 1, sweep);
    assert.equal(await jobs.sweep(sweeping, { limit: 10, leaseUntil: start + 9 }), 'done');
    assert.deepEqual(await placesOf(record), [2]);
    assert.equal(await jobs.addRows(job, [newRow(9)]), false);

    const { type, title, content, fileId, url, textSplitter } = record;
    const remake = { source: { type, title, content, fileId, url, textSplitter }, deadlineAt: start + 1_000_000 };
    await records.change(keyOf(record), { remake, updatedAt: start + 2 });
    const again = await claim(repositories, start + 2);
    assert.equal(await jobs.sweep(again, { limit: 10, leaseUntil: start + 30_000 }), 'done');
    await jobs.addRows(again, [newRow(7)]);
    await jobs.publish(again, published(0));
    assert.deepEqual(await placesOf(record), [7]);
  });
}

function testKeys(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  async function createPairs(record: NewRecord, keys: readonly string[]): Promise<RecordJob> {
    const job = await claim(open());
    assert.equal(job.id, record.id);
    await open().jobs.addChunks(job, keyed(...keys));
    return job;
  }

  it('keys count only for visible pairs of other records of the collection', async (repositories) => {
    const { jobs, collection } = repositories;
    const other = await addCollection(repositories);
    const job = await createPairs(await addRecord(repositories, collection), ['a', 'b']);
    const existingKeys = async (id: string | null, of = collection) =>
      [...(await jobs.findExistingKeys({ collectionId: of.id, id }, ['a', 'c']))].join();
    assert.equal(await existingKeys(null), '');
    await jobs.publish(job, published(2));
    assert.deepEqual(
      [await existingKeys(null), await existingKeys(job.id), await existingKeys(null, other)],
      ['a', '', ''],
    );
    await sweepAway(repositories, other);
  });

  test('keys with the same beginning are distinct, and so are collections whose ids have the same ending', async () => {
    const { jobs } = open();
    const end = newId('collection').slice(-12);
    const [collection, other] = await Promise.all(
      ['a', 'b'].map((first) => addCollection(open(), { id: `coll${first.repeat(8)}${end}` })),
    );
    assert.ok(collection !== undefined && other !== undefined, 'there are two');
    const keys = ['beginning', 'beginnings', 'begins'];
    await jobs.publish(await createPairs(await addRecord(open(), collection), keys.slice(0, 2)), published(2));
    const existingKeys = (of: string) => jobs.findExistingKeys({ collectionId: of, id: null }, keys.slice(1));
    assert.deepEqual(
      [await existingKeys(collection.id), await existingKeys(other.id)],
      [new Set(['beginnings']), new Set()],
    );
    const rival = await createPairs(await addRecord(open(), other, { onDuplicate: 'replace' }), keys);
    assert.deepEqual(await jobs.publish(rival, published(3)), { kind: 'published', sweep: false });
    const second = await createPairs(await addRecord(open(), collection, { onDuplicate: 'replace' }), keys.slice(1));
    assert.deepEqual(await jobs.publish(second, published(2)), { kind: 'published', sweep: true });
    assert.deepEqual(await contentsOf(open(), collection), ['beginning', 'beginnings', 'begins']);
    for (const each of [collection, other]) await sweepAway(open(), each);
  });

  it('a record that skips duplicates notices a pair that another record has published in the meantime', async (repositories) => {
    const { jobs, collection } = repositories;
    const first = await createPairs(await addRecord(repositories, collection, { type: 'qa_sheet' }), ['a']);
    const second = await createPairs(await addRecord(repositories, collection, { onDuplicate: 'skip' }), ['a', 'b']);
    assert.equal(second.onDuplicate, 'skip');
    await jobs.publish(first, published(1, start + 5));
    assert.deepEqual(await jobs.publish(second, published(2)), { kind: 'overtaken' });
    assert.deepEqual(await contentsOf(repositories, collection), ['a']);
  });

  test('a record that replaces duplicates does so in one step, and the replaced chunks are swept', async () => {
    const { jobs } = open();
    const collection = await addCollection(open(), { capacity: 3 });
    const old = await addRecord(open(), collection);
    await jobs.publish(await createPairs(old, ['a', 'b', 'c']), published(3));
    const record = await addRecord(open(), collection, { onDuplicate: 'replace' });
    const job = await createPairs(record, ['a', 'b']);
    assert.equal(await jobs.remainingCapacity(job), 3);
    assert.deepEqual(await contentsOf(open(), collection), ['a', 'b', 'c']);
    assert.deepEqual(await jobs.publish(job, published(2)), { kind: 'published', sweep: true });
    assert.deepEqual(await contentsOf(open(), collection, old.id), ['c']);
    assert.deepEqual(await contentsOf(open(), collection, record.id), ['a', 'b']);
    assert.equal((await getRecord(open(), old)).numChunks, 1);
    assert.deepEqual(await foundBy(open(), collection, ['a']), ['a']);
    const sweeping = await claim(open(), start + 10, { kind: 'sweep', token: newId('run') });
    assert.equal(sweeping.id, old.id);
    assert.equal(await jobs.sweep(sweeping, { limit: 10, leaseUntil: start + 20 }), 'done');
    // One row for the collection, two for the records and three for the chunks.
    assert.equal(await open().countRows(collection.id), 6);
    await sweepAway(open(), collection);
  });

  test('a record that replaces too few chunks for the remaining capacity is not published and replaces nothing', async () => {
    const { jobs } = open();
    const collection = await addCollection(open(), { capacity: 3 });
    await jobs.publish(await createPairs(await addRecord(open(), collection), ['a', 'b', 'c']), published(3));
    const job = await createPairs(await addRecord(open(), collection, { onDuplicate: 'replace' }), ['a', 'x']);
    assert.deepEqual(await jobs.publish(job, published(2)), { kind: 'full' });
    assert.deepEqual(await contentsOf(open(), collection), ['a', 'b', 'c']);
    await sweepAway(open(), collection);
  });
}

function testEnteredKeys(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  const add = (job: RecordJob, at: number, key: string) =>
    open().jobs.addChunks(job, [newChunk(key, { ordinal: at, rowKey: key })]);
  const all = ['a', 'b', 'c', 'd', 'e'];
  const takenOf = async (job: RecordJob) =>
    [...(await open().jobs.findExistingKeys({ collectionId: job.collectionId, id: null }, all))].sort().join();
  /** The first ordinal for the keys of a record that is being created. */
  const farOrdinal = 50_000;

  it('the keys of a record with many pairs exist from its publication on', async (repositories) => {
    const { jobs, collection } = repositories;
    await addRecord(repositories, collection);
    const job = await claim(repositories);
    const ordinals = [0, 1, farOrdinal, farOrdinal + 1];
    for (const [place, ordinal] of ordinals.entries()) await add(job, ordinal, all[place] ?? '');
    assert.equal(await takenOf(job), '');
    await jobs.publish(job, published(4));
    assert.equal(await takenOf(job), 'a,b,c,d');
    await sweepAway(repositories, collection);
    assert.equal(await repositories.countRows(collection.id), 0);
  });

  it('a record that is created again, with many pairs, has only the keys of its last attempt', async (repositories) => {
    const { jobs, collection } = repositories;
    await addRecord(repositories, collection);
    const first = await claim(repositories);
    await add(first, 0, 'a');
    await add(first, farOrdinal, 'b');
    await jobs.requeue(first, { runAfter: start, attempt: 1 });
    const again = await claim(repositories);
    assert.equal(await jobs.sweep(again, { limit: 10, leaseUntil: start + 30_000 }), 'done');
    await add(again, 0, 'c');
    await add(again, 1, 'd');
    await jobs.publish(again, published(2));
    assert.equal(await takenOf(again), 'c,d');
    // One row for the collection, one for the record and two for the chunks.
    assert.equal(await repositories.countRows(collection.id), 4);
  });

  it('an attempt that continues another one inserts the missing keys', async (repositories) => {
    const { jobs, collection } = repositories;
    await addRecord(repositories, collection);
    const first = await claim(repositories);
    await add(first, 0, 'a');
    await add(first, farOrdinal, 'b');
    await add(first, farOrdinal + 1, 'c');
    await jobs.saveCheckpoint(first, published(3));
    await jobs.requeue(first, { runAfter: start, attempt: 1 });
    const again = await claim(repositories);
    assert.equal(again.checkpoint?.numChunks, 3);
    await jobs.publish(again, published(3));
    assert.equal(await takenOf(again), 'a,b,c');
  });

  it('a pair that is deleted alone loses its key', async (repositories) => {
    const { jobs, chunks, collection } = repositories;
    const record = await addRecord(repositories, collection);
    const job = await claim(repositories);
    await add(job, 0, 'a');
    await add(job, 1, 'b');
    await jobs.publish(job, published(2));
    const listed = await chunks.list(keyOf(record), { order: 'asc' });
    const { projectId, collectionId } = record;
    assert.equal(await chunks.remove({ projectId, collectionId, chunkId: listed?.items[0]?.id ?? '' }), true);
    assert.equal(await takenOf(job), 'b');
    assert.equal(await repositories.countRows(collection.id), 3);
  });
}

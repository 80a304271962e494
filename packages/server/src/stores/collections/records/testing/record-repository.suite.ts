import assert from 'node:assert/strict';
import type { RecordListQuery, TextSplitter } from '@quartermaster/contract';
import {
  addCollection,
  addRecord,
  claim,
  claimAt,
  collectionTests,
  contentsOf,
  foundBy,
  getRecord,
  keyOf,
  newId,
  newRecord,
  type OpenedRepositories,
  recordOf,
  start,
  sweepAway,
} from '../../testing/fixtures.suite.ts';
import { type RecordSource, restorableMs } from '../record-repository.ts';

const restoredAt = (now: number) => ({ now, deadlineAt: now + 1_000 });
const splitter: TextSplitter = { type: 'separator', separators: ['\n'] };

/** Tests the behaviour of every record repository. */
export function testRecordRepository(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  it('a record is returned unchanged, and only in its project and collection', async (repositories) => {
    const { records, collection } = repositories;
    const record = await addRecord(repositories, collection, {
      type: 'web',
      title: 'Ein Titel',
      content: '{"url":"https://example.com/"}',
      url: 'https://example.com/',
      textSplitter: { type: 'separator', separators: ['\n'] },
      metadata: { a: 'ä' },
    });
    const { deadlineAt: _, ...visible } = record;
    const waiting = { status: 'creating', stage: 'queued', percent: 0, attempt: 0, numChunks: 0 };
    const expected = { ...visible, ...waiting, error: null, report: null, updatedAt: start };
    assert.deepEqual(await records.find(keyOf(record)), expected);
    assert.equal(await records.find({ ...keyOf(record), projectId: newId('project') }), undefined);
    assert.equal(await records.find({ ...keyOf(record), collectionId: newId('collection') }), undefined);
  });

  it('records are named with one query, and only those of the project that are not deleted', async (repositories) => {
    const { records, collection } = repositories;
    const titled = await addRecord(repositories, collection, { title: 'A title', content: 'not read' });
    const page = await addRecord(repositories, collection, { type: 'web', title: '', url: 'https://example.com/' });
    const file = { type: 'file', title: '', fileId: newId('file') } as const;
    const content = JSON.stringify({ file_id: file.fileId, file_name: 'ä.pdf', file_size: 3 });
    const named = await addRecord(repositories, collection, { ...file, content });
    const deleted = await addRecord(repositories, collection, { title: 'gone' });
    await records.markDeleting(keyOf(deleted), start);
    const other = await addCollection(repositories, { projectId: newId('project') });
    const foreign = await addRecord(repositories, other, { title: 'foreign' });
    const ids = [titled, page, named, deleted, foreign].map(({ id }) => id);
    const unnamed = { title: '', fileId: null, fileName: null, url: null };
    assert.deepEqual(
      await records.name(collection.projectId, [...ids, newId('record')]),
      new Map([
        [titled.id, { ...unnamed, title: 'A title' }],
        [page.id, { ...unnamed, url: 'https://example.com/' }],
        [named.id, { ...unnamed, fileId: file.fileId, fileName: 'ä.pdf' }],
      ]),
    );
    await sweepAway(repositories, other);
  });

  it('a change that is based on an outdated source has no effect', async (repositories) => {
    const { records, collection } = repositories;
    const record = await addRecord(repositories, collection, { title: 'old', textSplitter: splitter });
    const { type, title, content, fileId, url, textSplitter } = record;
    const old = { type, title, content, fileId, url, textSplitter };
    const change = (from: RecordSource, change: Partial<RecordSource>) => {
      const remake = { source: { ...from, ...change }, from, deadlineAt: start + 1_000_000 };
      return records.change(keyOf(record), { remake, updatedAt: start + 1 });
    };
    for (const other of [{ title: 'x' }, { content: 'x' }, { url: 'x' }, { textSplitter: null }, { fileId: 'x' }]) {
      assert.equal(await change({ ...old, ...other }, { title: 'new' }), false);
      assert.equal((await records.find(keyOf(record)))?.title, 'old');
    }
    assert.equal(await change(old, { title: 'new' }), true);
    assert.equal(await change(old, { title: 'newer' }), false);
    assert.equal(await change({ ...old, title: 'new' }, { textSplitter: null }), true);
    const { title: storedTitle, textSplitter: none } = await getRecord(repositories, record);
    assert.deepEqual([storedTitle, none], ['new', null]);
  });

  it('records of a project wait from their creation until they are ready', async (repositories) => {
    const { records, collection } = repositories;
    const { projectId } = collection;
    const others = await addCollection(repositories, { projectId });
    const areWaiting = async () => [await records.areWaiting(projectId, 1), await records.areWaiting(projectId, 2)];
    assert.deepEqual(await areWaiting(), [false, false]);
    const ready = await recordOf(repositories, collection, ['a']);
    assert.deepEqual(await areWaiting(), [false, false]);
    const waiting = await addRecord(repositories, others);
    assert.deepEqual(await areWaiting(), [true, false]);
    await records.change(keyOf(ready), { remake: { source: ready, deadlineAt: start + 1_000_000 }, updatedAt: start });
    assert.deepEqual(await areWaiting(), [true, true]);
    assert.equal(await records.areWaiting(newId('project'), 1), false);
    await records.cancel(keyOf(waiting), { failure: { code: 'cancelled', message: 'x' }, now: start });
    assert.deepEqual(await areWaiting(), [true, false]);
    for (const one of [collection, others]) await sweepAway(repositories, one);
  });

  it('a record cannot be added to a missing collection', async (repositories) => {
    const { records, collection } = repositories;
    assert.equal(await records.add(newRecord({ ...collection, id: newId('collection') })), false);
  });

  it('a list selects records by status, by type, by a part of the name that is shown, and by the content of the file', async (repositories) => {
    const { records, collection } = repositories;
    const fileId = newId('file');
    const content = JSON.stringify({ file_id: fileId, file_name: 'Ünïcode_100%.PDF', file_size: 3 });
    const added = {
      titled: await addRecord(repositories, collection, { title: 'A Title', content: 'pdf' }),
      page: await addRecord(repositories, collection, { type: 'web', url: 'https://example.com/', content: '{}' }),
      file: await addRecord(repositories, collection, { type: 'file', fileId, content }),
      text: await addRecord(repositories, collection, { content: `Otters ${'x'.repeat(80)} pdf` }),
    };
    const failure = { code: 'cancelled', message: 'Cancelled.' };
    assert.equal(await records.cancel(keyOf(added.page), { failure, now: start }), true);
    const namesOf = async (query: RecordListQuery) => {
      const page = await records.list(collection.projectId, collection.id, { order: 'asc', ...query });
      const ids = page?.items.map(({ id }) => id) ?? [];
      return Object.entries(added).flatMap(([name, { id }]) => (ids.includes(id) ? [name] : []));
    };
    assert.deepEqual(await namesOf({ status: 'error' }), ['page']);
    assert.deepEqual(await namesOf({ status: 'creating' }), ['titled', 'file', 'text']);
    assert.deepEqual(await namesOf({ status: 'creating', limit: 1, after: added.titled.id }), ['file']);
    assert.deepEqual(await namesOf({ name: 'a tITLE' }), ['titled']);
    assert.deepEqual(await namesOf({ name: 'pdf' }), ['file'], 'texts and the JSON of files are not names');
    assert.deepEqual(await namesOf({ name: 'file_' }), [], 'no character is a wildcard, and JSON is not searched');
    assert.deepEqual(await namesOf({ name: 'nïcode_100%' }), ['file']);
    assert.deepEqual(await namesOf({ name: 'example.com' }), ['page']);
    assert.deepEqual(await namesOf({ name: 'otters' }), ['text']);
    assert.deepEqual(await namesOf({ type: 'pdf' }), ['file']);
    assert.deepEqual(await namesOf({ type: 'df' }), [], 'the whole extension');
    assert.deepEqual(await namesOf({ type: 'text' }), ['titled', 'text']);
    assert.deepEqual(await namesOf({ type: 'web', status: 'error' }), ['page']);
    assert.equal(
      (await records.list(collection.projectId, collection.id, { type: 'pdf', count: true })).total?.count,
      1,
    );
    assert.deepEqual(await namesOf({ sha256: 'a'.repeat(64) }), []);
  });

  it('records are listed for a collection, newest first, even if the cursor is a record of another collection', async (repositories) => {
    const { records, collection } = repositories;
    const other = await addCollection(repositories, { projectId: collection.projectId });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await addRecord(repositories, collection)).id);
    const foreign = await addRecord(repositories, other);
    const page = await records.list(collection.projectId, collection.id, { limit: 2 });
    assert.deepEqual(
      page?.items.map((record) => record.id),
      [ids[2], ids[1]],
    );
    assert.equal(page?.hasMore, true);
    const next = await records.list(collection.projectId, collection.id, { after: String(ids[1]) });
    assert.deepEqual(
      next?.items.map((record) => record.id),
      [ids[0]],
    );
    const all = await records.list(collection.projectId, collection.id, { after: foreign.id });
    assert.equal(all.items.length, 3);
    assert.deepEqual((await records.list(newId('project'), collection.id, {}))?.items, []);
    await sweepAway(repositories, other);
  });

  it('new metadata change no other field', async (repositories) => {
    const { collection } = repositories;
    const record = await recordOf(repositories, collection, ['a']);
    const before = await getRecord(repositories, record);
    const change = { metadata: { b: '2' }, updatedAt: start + 9 };
    assert.equal(await repositories.records.change(keyOf(record), change), true);
    assert.deepEqual(await getRecord(repositories, record), { ...before, ...change });
    const foreign = { ...keyOf(record), projectId: newId('project') };
    assert.equal(await repositories.records.change(foreign, change), false);
  });

  it('a deleted record that can be restored is in its own list, and returns with its chunks', async (repositories) => {
    const { records, jobs, collection } = repositories;
    const record = await recordOf(repositories, collection, ['a', 'b']);
    const waiting = await addRecord(repositories, collection);
    const before = await getRecord(repositories, record);
    const end = start + 6 + restorableMs;
    const deleted = async () =>
      (await records.list(collection.projectId, collection.id, { status: 'deleting' })).items.map(({ id }) => id);
    assert.equal(await records.restore(keyOf(record), restoredAt(start)), false, 'it is not deleted');
    for (const one of [record, waiting]) assert.equal(await records.markDeleting(keyOf(one), start + 6, end), true);
    const other = await addRecord(repositories, collection);
    await records.markDeleting(keyOf(other), start + 6);
    const swept = await claim(repositories, start + 6, { kind: 'sweep' });
    assert.equal(swept.id, other.id);
    assert.equal(await jobs.sweep(swept, { limit: 9, leaseUntil: start + 100 }), 'done');
    assert.equal(await jobs.claim(claimAt(start + 6, { kind: 'sweep' })), undefined, 'the others wait');
    assert.equal(await records.find(keyOf(record)), undefined);
    assert.deepEqual(await contentsOf(repositories, collection), []);
    assert.deepEqual(await foundBy(repositories, collection, ['a']), []);
    assert.deepEqual(await deleted(), [waiting.id, record.id], 'the one that is removed at once is not listed');
    assert.equal(await records.restore({ ...keyOf(record), projectId: newId('project') }, restoredAt(start)), false);
    assert.equal(await records.restore(keyOf(record), restoredAt(start + 7)), true);
    assert.deepEqual(await getRecord(repositories, record), { ...before, stage: 'sweeping', updatedAt: start + 7 });
    assert.deepEqual(await contentsOf(repositories, collection), ['a', 'b']);
    assert.deepEqual(await foundBy(repositories, collection, ['a']), ['a']);
    assert.equal(await records.restore(keyOf(waiting), restoredAt(start + 7)), true);
    assert.equal((await claim(repositories, start + 7)).id, waiting.id, 'one that was being processed waits again');

    await records.markDeleting(keyOf(record), start + 8, end);
    assert.equal(await records.restore(keyOf(record), restoredAt(end)), false, 'its time is over');
    const job = await claim(repositories, end, { kind: 'sweep' });
    assert.equal(await records.restore(keyOf(record), restoredAt(start + 8)), false, 'its chunks are being removed');
    await jobs.sweep(job, { limit: 1, leaseUntil: end + 200 });
    await jobs.requeue(job, { runAfter: end + 300, attempt: 1 });
    assert.equal(await records.restore(keyOf(record), restoredAt(start + 8)), false, 'chunks are missing');
  });

  it('a deleted record disappears immediately', async (repositories) => {
    const { records, collection } = repositories;
    const record = await recordOf(repositories, collection, ['a']);
    assert.equal(await records.markDeleting({ ...keyOf(record), projectId: newId('project') }, start), false);
    assert.equal(await records.markDeleting(keyOf(record), start), true);
    assert.equal(await records.markDeleting(keyOf(record), start), false);
    assert.equal(await records.find(keyOf(record)), undefined);
    assert.deepEqual((await records.list(collection.projectId, collection.id, {}))?.items, []);
    assert.deepEqual((await records.list(collection.projectId, collection.id, { after: record.id })).items, []);
    assert.equal(await records.change(keyOf(record), { metadata: {}, updatedAt: start }), false);
  });
}

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addCollection, addRecord, claim, newChunk, start } from '../../stores/collections/testing/fixtures.suite.ts';
import { type NewFile, noFileLimits } from '../../stores/files/file-repository.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createFileRepository } from './file-repository.ts';
import { createCollectionRepositories } from './records/collection-repositories.ts';

// Locks of PostgreSQL that all nodes want. While one transaction waits for something else, the others must not wait for it.

async function open(t: TestContext) {
  const { database, close } = await temporaryDatabases.PostgreSQL();
  t.after(close);
  return database;
}

/** A point that one call reaches and where it waits until the test lets it continue. */
function createStop() {
  const [reached, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    reached: reached.promise,
    leave: left.resolve,
    async wait() {
      reached.resolve();
      await left.promise;
    },
  };
}

function newFile(id: string, sha256: string): NewFile {
  const about = { name: 'a.txt', purpose: 'record_file', extension: 'txt', createdAt: 1 } as const;
  return { file: { id, blobId: `blob ${id}`, projectId: 'p', bytes: 10, sha256, ...about }, claim: null };
}

test('an upload does not wait for another one of its project whose stored bytes are checked', async (t) => {
  const files = createFileRepository(await open(t));
  const stop = createStop();
  const isStored = async () => true;
  await files.add([newFile('first', 'aa')], noFileLimits, isStored);
  const same = files.add([newFile('same', 'aa')], noFileLimits, async () => {
    await stop.wait();
    return true;
  });
  try {
    await stop.reached;
    assert.equal((await files.add([newFile('other', 'bb')], noFileLimits, isStored))[0]?.kind, 'added');
  } finally {
    stop.leave();
  }
  assert.equal((await same)[0]?.kind, 'added');
  assert.deepEqual(await files.wrongUsages(), []);
});

test('a claim does not wait for one that moves the turn of the projects, and does not move it back', async (t) => {
  const database = await open(t);
  const repositories = createCollectionRepositories(database);
  const collection = await addCollection(repositories);
  const record = await addRecord(repositories, collection);
  const stop = createStop();
  const other = database.write.transaction().execute(async (transaction) => {
    await transaction.updateTable('record_turn').set({ project_id: 'of the other' }).execute();
    await stop.wait();
  });
  try {
    await stop.reached;
    assert.equal((await claim(repositories)).id, record.id);
  } finally {
    stop.leave();
  }
  await other;
  const turn = database.read.selectFrom('record_turn').select('project_id');
  assert.equal((await turn.executeTakeFirst())?.project_id, 'of the other');
});

test('a record is added to a collection while another one is being indexed for its publication', async (t) => {
  const database = await open(t);
  const stop = createStop();
  const { searchIndex } = database;
  const prepare: typeof searchIndex.prepare = async (...args) => {
    const insert = (await searchIndex.prepare?.(...args)) ?? assert.fail();
    return async (transaction) => {
      await stop.wait();
      await insert(transaction);
    };
  };
  const repositories = createCollectionRepositories({ ...database, searchIndex: { ...searchIndex, prepare } });
  const collection = await addCollection(repositories);
  await addRecord(repositories, collection);
  const job = await claim(repositories);
  const published = { status: 'ready', numChunks: 1, report: {}, now: start } as const;
  const publication = repositories.jobs.publish(job, published, [newChunk('tea')]);
  try {
    await stop.reached;
    await addRecord(repositories, collection);
  } finally {
    stop.leave();
  }
  assert.equal((await publication).kind, 'published');
});

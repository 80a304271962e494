import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { noFileLimits, type StoredArchive } from '../../stores/files/file-repository.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createBlobIntents } from '../repositories/blob-intents.ts';
import { createFileRepository } from '../repositories/file-repository.ts';
import { keyOf } from './s3-blob-store.ts';
import { sweepIntents } from './sweep-intents.ts';

const newId = createNewId();
const keepDeleted = 60_000;
/** Each blob is erased in its place and in the quarantine. */
const blobsOf = (keys: readonly string[]) => [...new Set(keys.map((key) => key.replace(/.*\//, '')))].toSorted();

const archiveOf = (blobId: string, sha256 = blobId): StoredArchive => ({
  id: newId('bundleArchive'),
  projectId: null,
  blobId,
  name: 'tea.qmb',
  bytes: 1,
  sha256,
  createdAt: 0,
  bundleId: 'tea',
  facts: '{}',
  expiresAt: null,
});

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`bytes without a row are erased twice, and those with a row never: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const intents = createBlobIntents(database);
    const files = createFileRepository(database, { hasIntents: true });
    const add = async (blobId: string, sha256?: string) =>
      (await files.add([{ file: archiveOf(blobId, sha256), claim: null }], noFileLimits, async () => true))[0];
    const [kept, lost, same] = [newId('blob'), newId('blob'), newId('blob')];
    await Promise.all([kept, lost, same].map(intents.add));
    assert.equal((await add(kept))?.kind, 'added');
    // Another blob has this content, so its own bytes are not needed.
    assert.deepEqual(await add(same, kept), { kind: 'added', blobId: kept });

    const erased: string[] = [];
    const objects = { abortUploads: async () => undefined, remove: async (key: string) => void erased.push(key) };
    const deps = { intents, objects, logger: createLogger('silent'), keepDeleted };
    assert.equal(await sweepIntents(deps), 0);
    assert.equal(await sweepIntents({ ...deps, grace: -1, lateness: 60_000 }), 2);
    assert.deepEqual(blobsOf(erased), [lost, same].toSorted());
    assert.deepEqual(await add(lost), { kind: 'given_up' });
    assert.ok((await files.liveBlobs('', 9)).every(({ blobId }) => blobId !== lost));
    assert.equal(await sweepIntents({ ...deps, grace: -1, lateness: 0 }), 0);
    assert.equal(erased.length, 8);
    assert.equal(await sweepIntents({ ...deps, grace: -1, lateness: 0 }), 0);
    assert.equal(erased.length, 8);
  });

  test(`the bytes of a deleted file stay for the configured time, and those of a discarded upload do not: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const intents = createBlobIntents(database);
    const files = createFileRepository(database, { hasIntents: true });
    const [deleted, unused] = [newId('blob'), newId('blob')];
    await intents.add(unused);
    await Promise.all([deleted, deleted, unused].map(intents.discard));
    // A delete that is repeated after a crash changes nothing.
    await intents.discard(deleted);
    assert.equal((await files.knownBlobs([deleted, newId('blob')])).size, 1);
    const erased: string[] = [];
    const objects = { abortUploads: async () => undefined, remove: async (key: string) => void erased.push(key) };
    const deps = { intents, objects, logger: createLogger('silent') };
    assert.equal(await sweepIntents({ ...deps, keepDeleted }), 1);
    assert.deepEqual(blobsOf(erased), [unused]);
    await sweepIntents({ ...deps, keepDeleted: -1 });
    assert.deepEqual(blobsOf(erased), [deleted, unused].toSorted());
    await sweepIntents({ ...deps, keepDeleted: -1 });
    assert.deepEqual([erased.length, (await files.knownBlobs([deleted])).size], [4, 0]);
  });

  test(`in a restored database, unfinished uploads of the lost one are kept like deleted files: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const intents = createBlobIntents(database);
    const [begun, unused] = [newId('blob'), newId('blob')];
    await Promise.all([begun, unused].map(intents.add));
    await intents.discard(unused);
    await intents.keepAll();
    assert.deepEqual(await intents.list('abandoned', 0, 9), []);
    assert.deepEqual((await intents.list('deleted', 0, 9)).toSorted(), [begun, unused].toSorted());
  });

  test(`an upload that takes long keeps its intent while it renews it: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const intents = createBlobIntents(database);
    const [slow, ended] = [newId('blob'), newId('blob')];
    await Promise.all([slow, ended].map(intents.add));
    await database.write.updateTable('blob_intent').set({ changed_at: 1 }).execute();
    await intents.renew(slow);
    await intents.abandon(3_600_000);
    assert.deepEqual(await intents.list('abandoned', 0, 9), [ended]);
    // An abandoned one stays abandoned.
    await intents.renew(ended);
    assert.deepEqual(await intents.list('abandoned', 0, 9), [ended]);
  });

  test(`an upload whose bytes cannot be erased is tried again, and does not delay others: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const intents = createBlobIntents(database);
    const [bad, good] = [newId('blob'), newId('blob')];
    await Promise.all([bad, good].map(intents.add));
    let isBroken = true;
    const remove = async (key: string) => {
      if (isBroken && key === keyOf(bad)) throw new Error('no answer');
    };
    const objects = { abortUploads: async () => undefined, remove };
    const deps = { intents, objects, logger: createLogger('silent'), keepDeleted, grace: -1, lateness: 60_000 };
    assert.equal(await sweepIntents(deps), 1);
    isBroken = false;
    assert.equal(await sweepIntents(deps), 1);
  });
}

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { Problem } from '../../platform/problem.ts';
import { describeBlobStore } from '../../stores/files/testing/blob-store.suite.ts';
import { openDiskBlobStore } from './disk-blob-store.ts';
import { emptyOldestFirst } from './disk-quarantine.ts';

async function createFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'quartermaster-blobs-'));
}

describeBlobStore('disk', async () => {
  const folder = await createFolder();
  const store = await openDiskBlobStore(folder);
  return {
    store,
    release: async () => {
      await store.close();
      assert.deepEqual(await readdir(join(folder, 'staging')), []);
      await rm(folder, { recursive: true });
    },
  };
});

describe('disk blob store', () => {
  let folder: string;
  const newId = createNewId();
  before(async () => {
    folder = await createFolder();
  });
  after(() => rm(folder, { recursive: true }));

  test('a text that is not the id of a blob is refused with the command that lists the ids', async () => {
    const store = await openDiskBlobStore(folder);
    await assert.rejects(async () => store.quarantine.purge('nope'), {
      name: 'OperatorError',
      message:
        '"nope" is not the id of a blob. Run "npm run quartermaster -- quarantine list" to see the blobs in the quarantine.',
    });
    await store.close();
  });

  test('files have mode 0600, folders have mode 0700, and paths contain only generated ids', async () => {
    const store = await openDiskBlobStore(folder);
    const staged = store.stage(newId('blob'));
    for (let index = 0; index < 24; index += 1) await staged.append(randomBytes(64 * 1024));
    await staged.finish();
    assert.equal((await stat(join(folder, 'staging', `${staged.blobId}.${process.pid}`))).mode & 0o777, 0o600);
    await staged.commit();
    const bucket = staged.blobId.slice(4, 8);
    assert.deepEqual(await readdir(join(folder, 'blobs')), [bucket]);
    assert.deepEqual(await readdir(join(folder, 'blobs', bucket)), [staged.blobId]);
    assert.equal((await stat(join(folder, 'blobs', bucket, staged.blobId))).mode & 0o777, 0o600);
    for (const path of ['staging', 'blobs', join('blobs', bucket)]) {
      assert.equal((await stat(join(folder, path))).mode & 0o777, 0o700);
    }
    await store.close();
  });

  test('a blob is written in pieces of 256 KiB while it arrives; a smaller blob stays in memory until its commit', async () => {
    const store = await openDiskBlobStore(folder);
    const stagedFiles = () => readdir(join(folder, 'staging'));
    const smaller = store.stage(newId('blob'));
    await smaller.append(randomBytes(256 * 1024 - 1));
    await smaller.finish();
    assert.deepEqual(await stagedFiles(), []);
    const larger = store.stage(newId('blob'));
    await larger.append(randomBytes(256 * 1024));
    await larger.finish();
    assert.deepEqual(await stagedFiles(), [`${larger.blobId}.${process.pid}`]);
    await Promise.all([smaller.discard(), larger.discard()]);
    assert.deepEqual(await stagedFiles(), []);
    await store.close();
  });

  test('blobs of many half-hour folders do not each keep a descriptor open', async () => {
    const store = await openDiskBlobStore(folder);
    const descriptors = async () => (await readdir('/proc/self/fd')).length;
    const start = await descriptors();
    for (let hour = 0; hour < 40; hour += 1) {
      const staged = store.stage(createNewId({ now: () => 1_800_000_000_000 + hour * 3_600_000 })('blob'));
      await staged.finish();
      await staged.commit();
    }
    assert.ok((await descriptors()) <= start + 5);
    await store.close();
    assert.equal(await descriptors(), start);
  });

  test('the start removes staging files of ended processes and keeps those of running processes', async () => {
    const living = spawn('sleep', ['60']);
    try {
      await once(living, 'spawn');
      const dead = `${newId('blob')}.${2 ** 22 + 1}`;
      const before = `${newId('blob')}.${process.pid}`;
      const young = `${newId('blob')}.${living.pid}`;
      const old = `${newId('blob')}.${living.pid}`;
      for (const name of [dead, before, young, old]) await writeFile(join(folder, 'staging', name), 'x');
      await utimes(join(folder, 'staging', old), 0, 0);
      await (await openDiskBlobStore(folder)).close();
      assert.deepEqual(await readdir(join(folder, 'staging')), [young]);
      await rm(join(folder, 'staging', young));
    } finally {
      living.kill();
      await once(living, 'exit');
    }
  });

  test('the start ignores foreign folders in staging and removes links without their targets', async () => {
    const own = await createFolder();
    await (await openDiskBlobStore(own)).close();
    const staging = join(own, 'staging');
    const named = join(own, 'named');
    await mkdir(join(staging, 'theirs'));
    await writeFile(join(staging, 'theirs', 'file'), 'x');
    await writeFile(named, 'x');
    await symlink(named, join(staging, 'link'));
    await symlink(join(own, 'nothing'), join(staging, 'dangling.1'));
    await (await openDiskBlobStore(own)).close();
    assert.deepEqual(await readdir(staging, { recursive: true }), ['theirs', join('theirs', 'file')]);
    assert.equal(await readFile(named, 'utf8'), 'x');
    await rm(own, { recursive: true });
  });

  test('a store whose folder disappeared fails the upload and leaves no file', async () => {
    const own = await createFolder();
    const store = await openDiskBlobStore(own);
    const [committed, staged] = [store.stage(newId('blob')), store.stage(newId('blob'))];
    await committed.finish();
    await committed.commit();
    await staged.append(Buffer.from('text'));
    await staged.finish();
    await rm(join(own, 'blobs'), { recursive: true });
    await assert.rejects(staged.commit());
    assert.deepEqual(await readdir(join(own, 'staging')), []);
    await assert.rejects(store.check());
    await mkdir(join(own, 'blobs'));
    await store.check();
    await store.close();
    await rm(own, { recursive: true });
  });

  test('a disk with less free space than required refuses a blob, and one with enough accepts it', async () => {
    const own = await createFolder();
    const crowded = await openDiskBlobStore(own, { leastFreeBytes: Number.MAX_SAFE_INTEGER });
    await assert.rejects(crowded.checkRoom(), { code: 'INSUFFICIENT_STORAGE' });
    await crowded.close();
    const roomy = await openDiskBlobStore(own, { leastFreeBytes: 1 });
    await roomy.checkRoom();
    await roomy.close();
    await rm(own, { recursive: true });
  });

  test('a disk with too little space empties the quarantine, oldest first, before it refuses an upload', async () => {
    const own = await createFolder();
    const logged: unknown[] = [];
    const logger = { warn: (...line: unknown[]) => void logged.push(line) };
    const store = await openDiskBlobStore(own, { leastFreeBytes: Number.MAX_SAFE_INTEGER, logger });
    const ids = [];
    for (const age of [2, 3, 1]) {
      const staged = store.stage(newId('blob'));
      await staged.finish();
      await staged.commit();
      await store.quarantine.add(staged.blobId);
      await utimes(join(own, 'quarantine', staged.blobId), 1000 - age, 1000 - age);
      ids.push(staged.blobId);
    }
    let checks = 0;
    assert.deepEqual(await emptyOldestFirst(store.quarantine, async () => ++checks === 2), [ids[1]]);
    assert.deepEqual((await readdir(join(own, 'quarantine'))).sort(), [ids[0], ids[2]].sort());
    await assert.rejects(store.checkRoom(), { code: 'INSUFFICIENT_STORAGE' });
    assert.deepEqual(await readdir(join(own, 'quarantine')), []);
    const fields = { blobs: 2, blob_ids: [ids[0], ids[2]] };
    assert.deepEqual(logged, [[fields, 'quarantined blobs erased: the disk is nearly full']]);
    await store.close();
    await rm(own, { recursive: true });
  });

  test('a full disk results in INSUFFICIENT_STORAGE', async () => {
    const full = new Error('no space left on device');
    Object.assign(full, { code: 'ENOSPC' });
    const { diskFailure } = await import('./problems.ts');
    const problem = diskFailure(full);
    assert.ok(problem instanceof Problem && problem.status === 507);
  });
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SnapshotBlob } from '../../platform/database-snapshot.ts';
import { createNewId } from '../../platform/identifier.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { type BlobFolder, openBlobFolder } from '../../storage/disk/blob-folder.ts';
import { lockFolder } from '../../storage/disk/folder-lock.ts';
import { BlobUnreadable } from '../../stores/files/blob-store.ts';
import { type CopyProgress, copyBundles, copyStore } from './backup.ts';
import { createFolder } from './new-folder.ts';

const newId = createNewId();
const store = { id: 'a store', blobsPlace: null };

test('the bytes that a database refers to are copied unchanged', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const blobs = [await keep(source, 'one'), await keep(source, ''), await keep(source, 'x'.repeat(1_000_000))];
  await keep(source, 'of nobody');
  const report = await copyStore({ takeSnapshot: snapshots([blobs]), source, copy, listFile: await newList(t) });
  assert.deepEqual(report, { blobs: 3, bytes: 1_000_003, faults: [] });
  assert.deepEqual(await contents(copy), await contents(source, blobs));
});

test('when a file is deleted during the copy, the next snapshot no longer lists it, and its bytes are removed', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const [stays, goes, gone] = [await keep(source, 'stays'), await keep(source, 'goes'), await keep(source, 'gone')];
  await source.remove(gone.blobId);
  const takeSnapshot = snapshots([[stays, goes, gone], [stays]]);
  assert.deepEqual(await copyStore({ takeSnapshot, source, copy, listFile: await newList(t) }), {
    blobs: 1,
    bytes: 5,
    faults: [],
  });
  assert.deepEqual(await contents(copy), { [stays.blobId]: 'stays' });
});

test('bytes that are missing or changed in every snapshot are reported, and the rest is copied', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const [whole, lost] = [await keep(source, 'whole'), await keep(source, 'lost')];
  const damaged = { ...(await keep(source, 'damaged')), sha256: sha256('undamaged') };
  await source.remove(lost.blobId);
  const { faults } = await copyStore({
    takeSnapshot: snapshots([[whole, lost, damaged]]),
    source,
    copy,
    listFile: await newList(t),
  });
  const reported = faults.map(({ kind, blobId }) => [blobId, kind]);
  assert.deepEqual(Object.fromEntries(reported), {
    [lost.blobId]: 'bytes_missing',
    [damaged.blobId]: 'content_differs',
  });
  assert.deepEqual(Object.values(await contents(copy)).sort(), ['damaged', 'whole']);
});

test('bytes that the disk cannot read are reported without a partial copy, and the rest is copied', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const [whole, hurt] = [await keep(source, 'whole'), await keep(source, 'hurt')];
  const reading = { open: async (blobId: string) => (blobId === hurt.blobId ? breakAfter('hu') : source.open(blobId)) };
  const deps = { takeSnapshot: snapshots([[hurt, whole]]), source: reading, copy, listFile: await newList(t) };
  const { faults } = await copyStore(deps);
  assert.deepEqual(
    faults.map(({ kind, blobId }) => [kind, blobId]),
    [['unreadable', hurt.blobId]],
  );
  assert.deepEqual(await contents(copy), { [whole.blobId]: 'whole' });
});

test('when other blobs are missing in each round, the backup ends with an error', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const takeSnapshot = async () => ({
    store,
    liveBlobs: async () => [describeBlob(newId('blob'), 'never kept')],
    close: async () => {},
  });
  await assert.rejects(
    copyStore({ takeSnapshot, source, copy, listFile: await newList(t) }),
    /files were deleted while they were being copied/,
  );
});

test('a folder appears complete, or not at all when filling it fails', async (t) => {
  const parent = await temporaryFolder(t);
  const fails = createFolder(join(parent, 'a'), lockFolder, async (folder) => {
    await writeFile(join(folder, 'half'), 'of it');
    assert.deepEqual(await readdir(parent), ['a.unfinished']);
    throw new Error('the disk is full');
  });
  await assert.rejects(fails, /the disk is full/);
  assert.deepEqual(await readdir(parent), []);
  await createFolder(join(parent, 'a'), lockFolder, (folder) => writeFile(join(folder, 'all'), 'of it'));
  assert.deepEqual([await readdir(parent), await readdir(join(parent, 'a'))], [['a'], ['all']]);
});

test('a folder inside a data folder, below a file or in a file system without folders is refused', async (t) => {
  const parent = await temporaryFolder(t);
  const fill = async () => assert.fail('nothing may be written');
  const lock = lockFolder(parent);
  await assert.rejects(createFolder(join(parent, 'b/a'), lockFolder, fill), /is inside the data folder/);
  lock.release();
  await rm(join(parent, 'in-use.lock'));
  await writeFile(join(parent, 'file'), '');
  await assert.rejects(createFolder(join(parent, 'file/a'), lockFolder, fill), /cannot be created: ENOTDIR/);
  await assert.rejects(createFolder('/proc/quartermaster', lockFolder, fill), /cannot be created: /);
});

test('the remains of an interrupted process are replaced; a folder that another process writes is not', async (t) => {
  const parent = await temporaryFolder(t);
  await mkdir(join(parent, 'a.unfinished/blobs'), { recursive: true });
  await writeFile(join(parent, 'a.unfinished/blobs/half'), 'of it');
  const lock = lockFolder(join(parent, 'a.unfinished'));
  const fill = (folder: string) => writeFile(join(folder, 'all'), 'of it');
  await assert.rejects(createFolder(join(parent, 'a'), lockFolder, fill), /Another process is writing .*a\.unfinished/);
  assert.deepEqual(await readdir(join(parent, 'a.unfinished/blobs')), ['half']);
  lock.release();
  await createFolder(join(parent, 'a'), lockFolder, fill);
  assert.deepEqual([await readdir(parent), await readdir(join(parent, 'a'))], [['a'], ['all']]);
});

test('a snapshot is closed before the first byte is copied, and the progress ends at the total', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const blobs = [await keep(source, 'one'), await keep(source, 'x'.repeat(3_000_000))];
  const order: string[] = [];
  const takeSnapshot = async () => ({
    store,
    liveBlobs: async (after: string) => (after === '' ? blobs : []),
    close: async () => {
      order.push('closed');
    },
  });
  const reported: CopyProgress[] = [];
  const watched = {
    open: (blobId: string) => {
      order.push('opened');
      return source.open(blobId);
    },
  };
  const onProgress = (progress: CopyProgress) => reported.push(progress);
  await copyStore({ takeSnapshot, source: watched, copy, listFile: await newList(t), onProgress });
  assert.deepEqual(order, ['closed', 'opened', 'opened']);
  assert.deepEqual(reported.at(-1), { blobs: 2, bytes: 3_000_003, blobsDone: 2, bytesDone: 3_000_003 });
  assert.ok(reported.length > 3, 'the progress of a large file is reported several times');
});

test('installed bundles are copied with their links, also while one is replaced; without bundles nothing is created', async (t) => {
  const parent = await temporaryFolder(t);
  const [from, to] = [join(parent, 'from'), join(parent, 'to')];
  await copyBundles(from, to);
  assert.deepEqual(await readdir(parent), []);
  await mkdir(join(from, '.versions/1/weather'), { recursive: true });
  await writeFile(join(from, '.versions/1/weather/bundle.yaml'), 'bundle_id: weather\n');
  await symlink('.versions/1/weather', join(from, 'weather'));
  await copyBundles(from, to);
  await rename(from, join(parent, 'away'));
  assert.equal(await readFile(join(to, 'weather/bundle.yaml'), 'utf8'), 'bundle_id: weather\n');
});

/** Returns the given states in turn, and then repeats the last one. */
function snapshots(states: ReadonlyArray<readonly SnapshotBlob[]>) {
  let next = 0;
  return async () => {
    const blobs = [...(states[Math.min(next++, states.length - 1)] ?? [])].sort((a, b) =>
      a.blobId < b.blobId ? -1 : 1,
    );
    return {
      store,
      liveBlobs: async (after: string, limit: number) => blobs.filter(({ blobId }) => blobId > after).slice(0, limit),
      close: async () => {},
    };
  };
}

async function keep(store: BlobFolder, text: string): Promise<SnapshotBlob> {
  const blobId = newId('blob');
  await store.write(blobId, piecesOf(text));
  return describeBlob(blobId, text);
}

async function* breakAfter(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
  throw new BlobUnreadable(new Error('EIO'));
}

async function* piecesOf(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 65_536) yield Buffer.from(text.slice(at, at + 65_536));
}

function describeBlob(blobId: string, text: string): SnapshotBlob {
  return { blobId, projectId: 'a project', bytes: Buffer.byteLength(text), sha256: sha256(text), files: [] };
}

async function contents(store: BlobFolder, wanted?: readonly SnapshotBlob[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { blobId } of store.list()) {
    if (wanted !== undefined && !wanted.some((blob) => blob.blobId === blobId)) continue;
    found[blobId] = Buffer.concat(await Array.fromAsync(await store.open(blobId))).toString();
  }
  return found;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function openStore(t: TestContext): Promise<BlobFolder> {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'blobs'));
  return openBlobFolder(folder);
}

async function newList(t: TestContext): Promise<string> {
  return join(await temporaryFolder(t), 'blobs.jsonl');
}

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openDiskBlobStore } from '../adapters/disk/disk-blob-store.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { createNewId } from '../kernel/identifier.ts';
import { copyStore } from './backup.ts';
import { copyBundles } from './copy-bundles.ts';
import { makeFolder } from './new-folder.ts';
import type { SnapshotBlob } from './snapshot-port.ts';

const newId = createNewId();

test('the bytes that a database names are copied as they are', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const blobs = [await keep(source, 'one'), await keep(source, ''), await keep(source, 'x'.repeat(1_000_000))];
  await keep(source, 'of nobody');
  const report = await copyStore({ takeSnapshot: snapshots([blobs]), source, copy });
  assert.deepEqual(report, { blobs: 3, bytes: 1_000_003, faults: [] });
  assert.deepEqual(await contents(copy), await contents(source, blobs));
});

test('a file deleted while its bytes are copied: another snapshot is taken, which does not name it; what it named before is not kept', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const [stays, goes, gone] = [await keep(source, 'stays'), await keep(source, 'goes'), await keep(source, 'gone')];
  await source.remove(gone.blobId);
  const takeSnapshot = snapshots([[stays, goes, gone], [stays]]);
  assert.deepEqual(await copyStore({ takeSnapshot, source, copy }), { blobs: 1, bytes: 5, faults: [] });
  assert.deepEqual(await contents(copy), { [stays.blobId]: 'stays' });
});

test('bytes that every snapshot names and that are not there, or not what they were, are told; the rest is copied', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const [whole, lost] = [await keep(source, 'whole'), await keep(source, 'lost')];
  const damaged = { ...(await keep(source, 'damaged')), sha256: sha256('undamaged') };
  await source.remove(lost.blobId);
  const { faults } = await copyStore({ takeSnapshot: snapshots([[whole, lost, damaged]]), source, copy });
  const told = faults.map(({ kind, blobId }) => [blobId, kind]);
  assert.deepEqual(Object.fromEntries(told), {
    [lost.blobId]: 'bytes_missing',
    [damaged.blobId]: 'content_differs',
  });
  assert.deepEqual(Object.values(await contents(copy)).sort(), ['damaged', 'whole']);
});

test('where something else is gone each time, it ends and says so', async (t) => {
  const [source, copy] = [await openStore(t), await openStore(t)];
  const takeSnapshot = async () => ({
    liveBlobs: async () => [describeBlob(newId('blob'), 'never kept')],
    close: async () => {},
  });
  await assert.rejects(copyStore({ takeSnapshot, source, copy }), /deleted faster than they could be copied/);
});

test('a folder appears whole, or not at all when filling it fails', async (t) => {
  const parent = await temporaryFolder(t);
  const fails = makeFolder(join(parent, 'a'), async (folder) => {
    await writeFile(join(folder, 'half'), 'of it');
    assert.deepEqual(await readdir(parent), ['a.unfinished']);
    throw new Error('the disk is full');
  });
  await assert.rejects(fails, /the disk is full/);
  assert.deepEqual(await readdir(parent), []);
  await makeFolder(join(parent, 'a'), (folder) => writeFile(join(folder, 'all'), 'of it'));
  assert.deepEqual([await readdir(parent), await readdir(join(parent, 'a'))], [['a'], ['all']]);
});

test('installed bundles are copied with their links, also when one is replaced meanwhile; where there are none nothing is made', async (t) => {
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

/** The last one is given again and again. */
function snapshots(states: ReadonlyArray<readonly SnapshotBlob[]>) {
  let next = 0;
  return async () => {
    const blobs = [...(states[Math.min(next++, states.length - 1)] ?? [])].sort((a, b) =>
      a.blobId < b.blobId ? -1 : 1,
    );
    return {
      liveBlobs: async (after: string, limit: number) => blobs.filter(({ blobId }) => blobId > after).slice(0, limit),
      close: async () => {},
    };
  };
}

async function keep(store: BlobStore, text: string): Promise<SnapshotBlob> {
  const staged = store.stage(newId('blob'));
  await staged.append(Buffer.from(text));
  await staged.finish();
  await staged.commit();
  return describeBlob(staged.blobId, text);
}

function describeBlob(blobId: string, text: string): SnapshotBlob {
  return { blobId, projectId: 'a project', bytes: Buffer.byteLength(text), sha256: sha256(text) };
}

async function contents(store: BlobStore, wanted?: readonly SnapshotBlob[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { blobId } of store.list()) {
    if (wanted !== undefined && !wanted.some((blob) => blob.blobId === blobId)) continue;
    found[blobId] = Buffer.concat(await (await store.open(blobId)).toArray()).toString();
  }
  return found;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function openStore(t: TestContext): Promise<BlobStore> {
  const store = await openDiskBlobStore(await temporaryFolder(t));
  t.after(() => store.close());
  return store;
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-backup-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

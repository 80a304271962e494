import assert from 'node:assert/strict';
import { rename, rm } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { failReads } from '../../../../../test/support/fail-reads.ts';
import { Problem } from '../../platform/problem.ts';
import { checkStore } from './maintenance/fsck.ts';
import { listQuarantine } from './maintenance/quarantine.ts';
import { type VerifyBlobsDeps, verifyBlobs } from './maintenance/verify-blobs.ts';
import { ask, upload } from './testing/ask.ts';
import { type FilesService, startFilesService } from './testing/files-service.ts';

const never = new AbortController().signal;
const contentOf = (id: string) => `/v1/files/${id}/content`;

function depsOf(service: FilesService, read: number[] = []): VerifyBlobsDeps {
  return {
    ...{ ...service, progress: service.damages, clock: { now: () => 1_800_000_000_000 }, passEvery: 1 },
    throttle: async (bytes) => void read.push(bytes),
  };
}

/** Starts a service with three files. The disk cannot read the bytes of the second one. */
async function startDamaged(t: TestContext) {
  const service = await startFilesService();
  t.after(() => service.stop());
  const ids: string[] = [];
  for (const content of ['green', 'black tea', 'white']) ids.push(await upload(service, { content, name: 'tea.txt' }));
  const [, damaged = ''] = ids;
  const blobId = (await service.files.find('projecta', damaged))?.blobId ?? '';
  const repair = failReads(await service.pathOf(damaged));
  t.after(repair);
  return { service, damaged, blobId, repair };
}

const damageOf = async (service: FilesService) =>
  Object.fromEntries(
    (await service.rows('blob')).map((row) => [(row as { id: string }).id, (row as { damage: string }).damage]),
  );

test('the background verification records a blob that cannot be read, leaves its bytes and reads the others', async (t) => {
  const { service, blobId, damaged, repair } = await startDamaged(t);
  const read: number[] = [];
  await verifyBlobs(depsOf(service, read), never);
  assert.deepEqual(read, [5, 5]);
  assert.equal((await damageOf(service))[blobId], 'unreadable');
  assert.equal(await service.damages.countDamaged(), 1);
  assert.deepEqual(await service.quarantined(), []);
  assert.equal((await service.damages.findVerification())?.passBlobs, 3);
  assert.equal((await ask(service, contentOf(damaged))).status, 503);

  repair();
  await verifyBlobs({ ...depsOf(service), clock: { now: () => 1_800_000_000_001 } }, never);
  assert.equal(await service.damages.countDamaged(), 0);
  assert.equal((await ask(service, contentOf(damaged))).text, 'black tea');
});

test('the quarantine lists a blob that cannot be read without a hash, and the others with theirs', async (t) => {
  const { service, blobId } = await startDamaged(t);
  const other = (await service.rows('blob')).map((row) => (row as { id: string }).id).find((id) => id !== blobId) ?? '';
  for (const id of [blobId, other]) await service.blobs.quarantine.add(id);
  const held = new Map(
    (await Array.fromAsync(listQuarantine(service.admin))).map((blob) => [blob.blobId, blob.sha256]),
  );
  assert.equal(held.get(blobId), null);
  assert.match(held.get(other) ?? '', /^[0-9a-f]{64}$/);
});

test('an upload of the same content replaces bytes that cannot be read', async (t) => {
  const { service, damaged } = await startDamaged(t);
  const again = await upload(service, { content: 'black tea' });
  for (const id of [damaged, again]) assert.equal((await ask(service, contentOf(id))).text, 'black tea');
  assert.equal(await service.damages.countDamaged(), 0);
  assert.equal((await service.onDisk()).blobs.length, 3);
});

test('the check of a store reports a blob that cannot be read with its files, and checks the others', async (t) => {
  const { service, blobId, damaged } = await startDamaged(t);
  const files = [{ blobId, fileId: damaged, name: 'tea.txt', projectId: 'projecta' }];
  for (const options of [{ hash: true }, { hash: true, repair: true }, { hash: false }]) {
    const report = await checkStore(service.admin, options);
    assert.deepEqual(report.faults, [{ kind: 'unreadable', blobId, projectId: 'projecta', files }]);
    assert.deepEqual([report.blobsChecked, report.open], [3, 1]);
  }
  assert.equal((await damageOf(service))[blobId], 'unreadable');
});

test('the check of a store does not treat an unreadable copy in the quarantine as intact', async (t) => {
  const service = await startFilesService();
  t.after(() => service.stop());
  const id = await upload(service, { content: 'green tea' });
  const blobId = (await service.files.find('projecta', id))?.blobId ?? '';
  await service.blobs.quarantine.add(blobId);
  t.after(failReads(`${service.folder}/quarantine/${blobId}`));
  const report = await checkStore(service.admin, { hash: true, repair: true });
  assert.deepEqual([report.faults.map(({ kind }) => kind), report.open], [['bytes_missing'], 1]);
  assert.deepEqual(await service.quarantined(), [blobId]);
});

test('the check of a store continues when a file is deleted before it is read', async (t) => {
  const service = await startFilesService();
  t.after(() => service.stop());
  const ids = [await upload(service, { content: 'green' }), await upload(service, { content: 'black' })];
  const blobs = {
    ...service.blobs,
    open: async (blobId: string) => {
      const id = ids.pop();
      if (id !== undefined) await ask(service, `/v1/files/${id}`, { method: 'DELETE' });
      return service.blobs.open(blobId);
    },
  };
  const report = await checkStore({ ...service.admin, blobs }, { hash: true, repair: true });
  assert.deepEqual([report.faults, report.open], [[], 0]);
});

test('a failure of the whole storage ends the verification, the check and the upload, and is not recorded as damage', async (t) => {
  const { service, damaged } = await startDamaged(t);
  const moved = `${service.folder}/moved`;
  await rename(`${service.folder}/blobs`, moved);
  await assert.rejects(verifyBlobs(depsOf(service), never), Problem);
  await assert.rejects(checkStore(service.admin, { hash: true, repair: true }), Problem);
  assert.equal((await ask(service, contentOf(damaged))).status, 503);
  await rename(moved, `${service.folder}/blobs`);
  assert.equal(await service.damages.countDamaged(), 0);

  // The disk now refuses every read and write.
  await rename(`${service.folder}/staging`, moved);
  await assert.rejects(verifyBlobs(depsOf(service), never));
  await assert.rejects(checkStore(service.admin, { hash: true, repair: true }));
  assert.equal(await service.damages.countDamaged(), 0);
  await rename(moved, `${service.folder}/staging`);
  await rm(await service.pathOf(damaged));
  await verifyBlobs(depsOf(service), never);
  assert.equal(await service.damages.countDamaged(), 1);
});

import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { checkStore } from './maintenance/fsck.ts';
import { type ReconcileDeps, reconcileFiles } from './maintenance/reconcile.ts';
import { sweepOrphans } from './maintenance/sweep-orphans.ts';
import { ask, upload } from './testing/ask.ts';
import { type FilesService, startFilesService } from './testing/files-service.ts';

describe('after a crash', () => {
  const logger = createLogger('silent');
  const twoHours = 7_200_000;
  const later = (service: FilesService, milliseconds: number): ReconcileDeps => ({
    ...service,
    logger,
    keepQuarantined: 24 * 3_600_000,
    clock: { now: () => Date.now() + milliseconds },
  });
  const none = { quarantined: 0, left: 0 };
  async function addOrphans(service: FilesService, count: number): Promise<string[]> {
    const ids = [];
    for (let index = 0; index < count; index += 1) {
      const orphan = service.blobs.stage(createNewId()('blob'));
      await orphan.append(Buffer.from(`orphan ${index}`));
      await orphan.finish();
      await orphan.commit();
      ids.push(orphan.blobId);
    }
    return ids;
  }

  test('interrupted deletes erase their bytes, and bytes without a row are quarantined after the grace period', async () => {
    await using service = await startFilesService();
    const { files } = service;
    const [a, b] = [await upload(service, { content: 'a' }), await upload(service, { content: 'b' })];
    const intact = await upload(service, { content: 'b' });
    for (const id of [a, b]) assert.equal(typeof (await files.startDelete('projecta', id)), 'object');
    const orphans = await addOrphans(service, 1);

    const nothing = { deletesFinished: 0, orphans: none, purged: 0, damaged: 0 };
    assert.deepEqual(await reconcileFiles(later(service, 0)), { ...nothing, deletesFinished: 2 });
    assert.deepEqual(await service.quarantined(), [], 'what a caller deleted is erased');
    const swept = { ...nothing, orphans: { quarantined: 1, left: 0 } };
    assert.deepEqual(await reconcileFiles(later(service, twoHours)), swept);
    assert.deepEqual(await reconcileFiles(later(service, twoHours)), nothing);
    assert.deepEqual(await service.quarantined(), orphans);
    assert.deepEqual(
      (await service.rows('file')).map((file) => file.id),
      [intact],
    );
    assert.equal((await ask(service, `/v1/files/${intact}/content`)).text, 'b');
    assert.equal((await service.onDisk()).blobs.length, 1);
    assert.deepEqual(await reconcileFiles(later(service, 25 * 3_600_000)), { ...nothing, purged: 1 });
    assert.deepEqual(await service.quarantined(), []);
  });

  test('a delete whose bytes cannot be removed delays neither other deletes nor the sweep', async () => {
    await using service = await startFilesService();
    const ids = [await upload(service, { content: 'a' }), await upload(service, { content: 'b' })];
    for (const id of ids) await service.files.startDelete('projecta', id);
    const stuck = (await service.files.unfinishedDeletes(1))[0];
    const remove = async (blobId: string) => {
      if (blobId === stuck?.blobId) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await service.blobs.remove(blobId);
    };
    const orphans = await addOrphans(service, 1);
    const deps = { ...later(service, twoHours), blobs: { ...service.blobs, remove } };
    const result = await reconcileFiles(deps);
    assert.deepEqual(result, { deletesFinished: 1, orphans: { quarantined: 1, left: 0 }, purged: 0, damaged: 0 });
    assert.deepEqual(await service.quarantined(), orphans);
    assert.deepEqual(
      (await service.rows('file')).map((file) => file.id),
      [stuck?.fileId],
    );
    assert.equal((await reconcileFiles(later(service, 0))).deletesFinished, 1);
    assert.deepEqual(await service.rows('file'), []);
  });

  test('a replaced blob that cannot be removed does not delay the sweep', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'a' });
    const blobId = (await service.files.find('projecta', id))?.blobId ?? '';
    await service.damages.recordDamage(blobId, 'missing', 0);
    await upload(service, { content: 'a' });
    const orphans = await addOrphans(service, 1);
    const remove = async () => {
      throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
    };
    const deps = { ...later(service, twoHours), blobs: { ...service.blobs, remove } };
    assert.deepEqual((await reconcileFiles(deps)).orphans, { quarantined: 1, left: 0 });
    assert.deepEqual(await service.quarantined(), orphans);
  });

  test('more orphans than a crash leaves stay in place until the operator confirms the move', async () => {
    await using service = await startFilesService();
    await upload(service, { content: 'a' });
    await addOrphans(service, 6);
    assert.deepEqual((await reconcileFiles(later(service, twoHours))).orphans, { quarantined: 0, left: 6 });
    assert.deepEqual(await service.quarantined(), []);
    assert.equal((await service.onDisk()).blobs.length, 7);
    assert.deepEqual(await sweepOrphans(later(service, twoHours), true), { quarantined: 6, left: 0 });
    assert.equal((await service.onDisk()).blobs.length, 1);
  });

  test('missing, truncated and changed bytes, orphans and unfinished deletes are all found', async () => {
    await using service = await startFilesService();
    const { files, blobs, folder } = service;
    const ids = [];
    for (const content of ['gone', 'short', 'other', 'fine', 'deleting']) ids.push(await upload(service, { content }));
    const stored = await Promise.all(ids.map((id) => files.find('projecta', id)));
    const pathOf = (index: number) => {
      const blobId = stored[index]?.blobId ?? '';
      return join(folder, 'blobs', blobId.slice(4, 8), blobId);
    };
    await rm(pathOf(0));
    await writeFile(pathOf(1), 'shor');
    await writeFile(pathOf(2), 'OTHER');
    await files.startDelete('projecta', ids[4] ?? '');
    const orphan = blobs.stage(createNewId()('blob'));
    await orphan.finish();
    await orphan.commit();

    const kinds = async (hash: boolean) =>
      (await checkStore(service.admin, { hash })).faults.map((fault) => fault.kind).sort();
    assert.deepEqual(await kinds(false), ['bytes_missing', 'delete_unfinished', 'orphan', 'size_differs']);
    assert.deepEqual(
      await kinds(true),
      'bytes_missing content_differs delete_unfinished orphan size_differs'.split(' '),
    );
    assert.equal(await readFile(pathOf(3), 'utf8'), 'fine');
    assert.equal((await reconcileFiles(later(service, 0))).damaged, 2);
    const lost = await ask(service, `/v1/files/${ids[0]}/content`);
    assert.equal(lost.status, 503);
  });
});

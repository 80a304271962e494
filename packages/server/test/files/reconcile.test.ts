import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkStore } from '../../src/files/fsck.ts';
import { reconcileFiles } from '../../src/files/reconcile.ts';
import { createNewId } from '../../src/kernel/identifier.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { ask, upload } from './ask.ts';
import { startFilesService } from './files-service.ts';

describe('after a crash', () => {
  const logger = createLogger('silent');
  test('interrupted deletes are finished, and bytes without a row go once they are old', async () => {
    await using service = await startFilesService();
    const { files, blobs } = service;
    const [a, b] = [await upload(service, { content: 'a' }), await upload(service, { content: 'b' })];
    const kept = await upload(service, { content: 'b' });
    for (const id of [a, b]) assert.equal(typeof (await files.startDelete('projecta', id)), 'object');
    const orphan = blobs.stage(createNewId()('blob'));
    await orphan.finish();
    await orphan.commit();

    const young = { files, blobs, logger, clock: { now: () => Date.now() } };
    assert.deepEqual(await reconcileFiles(young), { deletesFinished: 2, orphansRemoved: 0, missing: 0 });
    const old = { ...young, clock: { now: () => Date.now() + 7_200_000 } };
    assert.deepEqual(await reconcileFiles(old), { deletesFinished: 0, orphansRemoved: 1, missing: 0 });
    assert.deepEqual(await reconcileFiles(old), { deletesFinished: 0, orphansRemoved: 0, missing: 0 });
    assert.deepEqual(
      (await service.rows('file')).map((file) => file.id),
      [kept],
    );
    assert.equal((await ask(service, `/v1/files/${kept}/content`)).text, 'b');
    assert.equal((await service.onDisk()).blobs.length, 1);
  });

  test('missing, cut and changed bytes, orphans and unfinished deletes are all found', async () => {
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
      (await checkStore(service, { hash })).faults.map((fault) => fault.kind).sort();
    assert.deepEqual(await kinds(false), ['bytes_missing', 'delete_unfinished', 'orphan', 'size_differs']);
    assert.deepEqual(await kinds(true), [
      'bytes_missing',
      'content_differs',
      'delete_unfinished',
      'orphan',
      'size_differs',
    ]);
    assert.equal(await readFile(pathOf(3), 'utf8'), 'fine');
    assert.equal((await reconcileFiles({ files, blobs, logger, clock: { now: () => Date.now() } })).missing, 2);
    const lost = await ask(service, `/v1/files/${ids[0]}/content`);
    assert.equal(lost.status, 500);
  });
});

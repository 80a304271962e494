import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { createNewId } from '../../platform/identifier.ts';
import { checkStore, type StoreReport } from './maintenance/fsck.ts';
import { listQuarantine, restoreAsFile, restoreBlob } from './maintenance/quarantine.ts';
import { ask, upload } from './testing/ask.ts';
import { type FilesService, startFilesService } from './testing/files-service.ts';

const kindsOf = (report: StoreReport) => report.faults.map((fault) => fault.kind);
const contentOf = (id: string) => `/v1/files/${id}/content`;

async function addOrphan(service: FilesService, content: string): Promise<string> {
  const orphan = service.blobs.stage(createNewId()('blob'));
  await orphan.append(Buffer.from(content));
  await orphan.finish();
  await orphan.commit();
  return orphan.blobId;
}

describe('the check of a store', () => {
  test('reports the files of a damaged blob and records it, so that the next upload repairs it', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'green tea', name: 'tea.txt' });
    const blobId = (await service.files.find('projecta', id))?.blobId ?? '';
    await writeFile(await service.pathOf(id), 'GREEN TEA');
    const report = await checkStore(service.admin, { hash: true, repair: true });
    assert.deepEqual(report.faults, [
      {
        kind: 'content_differs',
        blobId,
        projectId: 'projecta',
        files: [{ blobId, fileId: id, name: 'tea.txt', projectId: 'projecta' }],
      },
    ]);
    assert.equal(report.open, 1);
    assert.match(report.database, /integrity_check/);
    await upload(service, { content: 'green tea' });
    assert.equal((await ask(service, contentOf(id))).text, 'green tea');
    assert.equal((await checkStore(service.admin, { hash: true })).open, 0);
  });

  test('restores quarantined bytes whose hash is correct', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'green tea' });
    const blobId = (await service.files.find('projecta', id))?.blobId ?? '';
    await service.reportDamage({ blobId, projectId: 'projecta' }, 'content_differs');
    // Its bytes are in the quarantine now, which is not another kind of damage.
    await service.reportDamage({ blobId, projectId: 'projecta' }, 'missing');
    const [row] = (await service.rows('blob')) as { damage: string }[];
    assert.equal(row?.damage, 'content_differs');
    assert.equal((await ask(service, contentOf(id))).status, 503);
    const report = await checkStore(service.admin, { hash: false, repair: true });
    assert.deepEqual([kindsOf(report), report.open], [['bytes_missing'], 0]);
    assert.equal((await ask(service, contentOf(id))).text, 'green tea');
    assert.equal(await service.damages.countDamaged(), 0);
  });

  test('counts orphans as faults only after their grace period', async () => {
    await using service = await startFilesService();
    const orphan = await addOrphan(service, 'green tea');
    const young = await checkStore(service.admin, { hash: false });
    assert.deepEqual([kindsOf(young), young.open], [['orphan'], 0]);
    await utimes(`${service.folder}/blobs/${orphan.slice(4, 8)}/${orphan}`, 0, 0);
    assert.equal((await checkStore(service.admin, { hash: false })).open, 1);
  });

  test('reports the damage of the database', async () => {
    await using service = await startFilesService();
    const checkDatabase = async () => ({ checked: 'read', findings: ['row 3 missing from index'], indexes: [] });
    const report = await checkStore({ ...service.admin, checkDatabase }, { hash: false });
    assert.deepEqual(report.faults, [{ kind: 'database_damaged', finding: 'row 3 missing from index' }]);
    assert.equal(report.open, 1);
  });

  test('repairs a damaged search index, and reports one that stays damaged', async () => {
    await using service = await startFilesService();
    const fault = (collectionId: string, finding: string) => ({ collectionId, finding });
    const indexes = [fault('coll1', 'a page is missing'), fault('coll1', 'it lacks 3 chunks'), fault('coll2', 'no')];
    const deps = {
      ...service.admin,
      checkDatabase: async () => ({ checked: 'read', findings: [], indexes }),
      repairIndex: async (collectionId: string) => collectionId === 'coll1',
    };
    assert.equal((await checkStore(deps, { hash: false })).open, 3);
    const repaired = await checkStore(deps, { hash: false, repair: true });
    assert.deepEqual(
      repaired.mended,
      indexes.slice(0, 2).map((index) => ({ kind: 'index_damaged', ...index })),
    );
    assert.equal(repaired.open, 1);
  });
});

describe('the quarantine', () => {
  test('lists its blobs with their hashes and restores one', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'green tea' });
    const blobId = (await service.files.find('projecta', id))?.blobId ?? '';
    await service.blobs.quarantine.add(blobId);
    const [held] = await Array.fromAsync(listQuarantine(service.admin));
    assert.deepEqual([held?.blobId, held?.bytes, held?.files[0]?.fileId], [blobId, 9, id]);
    assert.equal(held?.sha256, createHash('sha256').update('green tea').digest('hex'));
    await restoreBlob(service.admin, blobId);
    assert.equal((await ask(service, contentOf(id))).text, 'green tea');
    await assert.rejects(restoreBlob(service.admin, blobId), /The quarantine holds no blob/);
  });

  test('restores no bytes that differ from the content of their files, and reports those files', async () => {
    await using service = await startFilesService();
    const id = await upload(service, { content: 'green tea', name: 'tea.txt' });
    const blobId = (await service.files.find('projecta', id))?.blobId ?? '';
    await writeFile(await service.pathOf(id), 'GREEN TEA');
    await service.reportDamage({ blobId, projectId: 'projecta' }, 'content_differs');
    await assert.rejects(
      restoreBlob(service.admin, blobId),
      new RegExp(`${blobId}.* not the content of "tea.txt" \\(${id}\\).*Nothing was restored`),
    );
    assert.deepEqual([await service.quarantined(), (await service.onDisk()).blobs], [[blobId], []]);
    await writeFile(`${service.folder}/quarantine/${blobId}`, 'green tea');
    await restoreBlob(service.admin, blobId);
    assert.equal((await ask(service, contentOf(id))).text, 'green tea');
    assert.equal(await service.damages.countDamaged(), 0);
  });

  test('creates a file from bytes whose stored copy has changed, and every file gets the correct bytes', async () => {
    await using service = await startFilesService();
    const first = await upload(service, { content: 'green tea' });
    await writeFile(await service.pathOf(first), 'GREEN TEA');
    const blobId = await addOrphan(service, 'green tea');
    await service.blobs.quarantine.add(blobId);
    const wanted = { projectId: 'projecta', name: 'tea.txt', purpose: 'record_file' } as const;
    const second = await restoreAsFile(service.admin, blobId, wanted);
    for (const id of [first, second]) assert.equal((await ask(service, contentOf(id))).text, 'green tea');
    assert.deepEqual(await service.quarantined(), []);
  });

  test('creates a file from bytes without a row', async () => {
    await using service = await startFilesService();
    const blobId = await addOrphan(service, 'green tea');
    await service.blobs.quarantine.add(blobId);
    const wanted = { projectId: 'projecta', name: 'tea.txt', purpose: 'record_file' } as const;
    await assert.rejects(restoreAsFile(service.admin, blobId, { ...wanted, name: 'tea.exe' }), /extension/);
    const id = await restoreAsFile(service.admin, blobId, wanted);
    assert.equal((await ask(service, contentOf(id))).text, 'green tea');
    assert.deepEqual(await service.quarantined(), []);
    assert.equal((await checkStore(service.admin, { hash: true })).open, 0);
  });
});

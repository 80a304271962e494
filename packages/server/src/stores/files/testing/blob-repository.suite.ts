import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import type { BlobRepository } from '../blob-repository.ts';
import { type FileRepository, type IsStored, noFileLimits, type StoredFile } from '../file-repository.ts';

export interface OpenBlobRepository {
  readonly blobs: BlobRepository;
  readonly files: FileRepository;
  release(): Promise<void>;
}

/** Tests the behaviour of every repository of blobs, and of every file repository with damaged blobs. */
export function describeBlobRepository(name: string, open: () => Promise<OpenBlobRepository>): void {
  describe(`blob repository: ${name}`, () => {
    let opened: OpenBlobRepository;
    let blobs: BlobRepository;
    let files: FileRepository;
    let project = '';
    const newId = createNewId();
    const limits = noFileLimits;
    before(async () => {
      opened = await open();
      ({ blobs, files } = opened);
    });
    after(() => opened.release());
    beforeEach(() => {
      project = newId('project');
    });

    async function add(sha256: string, isStored: IsStored = async () => true) {
      const file: StoredFile = {
        id: newId('file'),
        projectId: project,
        blobId: newId('blob'),
        name: `${sha256}.txt`,
        purpose: 'record_file',
        extension: 'txt',
        bytes: 10,
        sha256,
        createdAt: 1_800_000_000_000,
      };
      const [outcome] = await files.add([{ file, claim: null }], limits, isStored);
      assert.ok(outcome?.kind === 'added');
      return { file, outcome };
    }
    const blobOf = async (fileId: string) => (await files.find(project, fileId))?.blobId;

    test('damage is recorded once, counted, listed, and cleared', async () => {
      const { file } = await add('aa');
      const before = await blobs.countDamaged();
      assert.equal(await blobs.recordDamage(file.blobId, 'missing', 5), 'recorded');
      assert.equal(await blobs.recordDamage(file.blobId, 'missing', 6), 'known');
      assert.equal(await blobs.recordDamage('nothing', 'missing', 6), 'gone');
      assert.equal(await blobs.countDamaged(), before + 1);
      const [row] = await files.liveBlobs(file.blobId.slice(0, -1), 1);
      assert.deepEqual([row?.blobId, row?.damage], [file.blobId, 'missing']);
      assert.deepEqual(await blobs.filesOf([file.blobId, 'nothing'], 10), [
        { blobId: file.blobId, fileId: file.id, name: 'aa.txt', projectId: project },
      ]);
      await blobs.clearDamage(file.blobId);
      assert.equal(await blobs.countDamaged(), before);
    });

    test('content whose blob is not stored is kept under the new blob, for every file that uses it', async () => {
      const first = await add('aa');
      const requested: unknown[] = [];
      const second = await add('aa', async (blob) => {
        requested.push(blob);
        return false;
      });
      assert.deepEqual(requested, [{ blobId: first.file.blobId, bytes: 10 }]);
      assert.deepEqual(second.outcome, { kind: 'added', blobId: second.file.blobId, replaced: first.file.blobId });
      assert.equal(await blobOf(first.file.id), second.file.blobId);
      assert.equal(await blobOf(second.file.id), second.file.blobId);
      const third = await add('aa');
      assert.deepEqual(third.outcome, { kind: 'added', blobId: second.file.blobId });
    });

    test('content whose blob is known to be damaged is replaced without a read, and the old blob is listed for erasure', async () => {
      const first = await add('aa');
      await blobs.recordDamage(first.file.blobId, 'content_differs', 5);
      const damaged = await blobs.countDamaged();
      const second = await add('aa', async () => assert.fail('a damaged blob is not asked for'));
      assert.equal(second.outcome.blobId, second.file.blobId);
      assert.equal(await blobs.countDamaged(), damaged - 1);
      assert.ok((await blobs.replacedBlobs(100)).includes(first.file.blobId));
      assert.equal((await files.knownBlobs([first.file.blobId])).size, 1, 'no sweep takes it for an orphan');
      await blobs.forgetReplaced(first.file.blobId);
      assert.equal((await files.knownBlobs([first.file.blobId])).size, 0);
      assert.ok(!(await blobs.replacedBlobs(100)).includes(first.file.blobId));
    });

    test('the blob of a file that is being deleted is not listed as replaced, and its row stays', async () => {
      const { file } = await add('aa');
      await files.startDelete(project, file.id);
      assert.ok(!(await blobs.replacedBlobs(100)).includes(file.blobId));
      await blobs.forgetReplaced(file.blobId);
      assert.equal((await files.knownBlobs([file.blobId])).size, 1);
      assert.equal(await blobs.recordDamage(file.blobId, 'missing', 5), 'gone');
    });

    test('the progress of the verification and its pause are stored', async () => {
      assert.equal(await blobs.findVerification(), undefined);
      const progress = {
        position: 'blob1',
        passStartedAt: 10,
        passBlobs: 2,
        passBytes: 5_000_000_000,
        finishedAt: null,
      };
      await blobs.saveVerification(progress);
      assert.deepEqual(await blobs.findVerification(), { ...progress, paused: false });
      await blobs.pauseVerification(true);
      await blobs.saveVerification({ ...progress, position: '', finishedAt: 30 });
      assert.deepEqual(await blobs.findVerification(), { ...progress, position: '', finishedAt: 30, paused: true });
    });
  });
}

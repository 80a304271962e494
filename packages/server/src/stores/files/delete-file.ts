import { objectNotFound } from '../../platform/problem.ts';
import type { BlobStore } from './blob-store.ts';
import type { DeletingFile, FileRepository } from './file-repository.ts';
import { fileInUse } from './problems.ts';

export interface DeleteFileDeps {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
}

/**
 * Deletes a file: marks its row, removes its bytes, then removes its rows. A delete that a fault or a crash interrupts
 * is finished within a minute, or at the next start. Throws OBJECT_NOT_FOUND, or DUPLICATE_OBJECT while a record is
 * being created from the file.
 */
export async function deleteFile(deps: DeleteFileDeps, projectId: string, fileId: string): Promise<void> {
  const deleting = await deps.files.startDelete(projectId, fileId);
  if (deleting === 'absent') throw objectNotFound('file', fileId);
  if (deleting === 'in_use') throw fileInUse(fileId);
  await finishDeleting(deps, deleting);
}

export interface FinishDeletingDeps {
  readonly files: Pick<FileRepository, 'finishDelete'>;
  readonly blobs: Pick<BlobStore, 'remove'>;
}

export async function finishDeleting({ files, blobs }: FinishDeletingDeps, deleting: DeletingFile): Promise<void> {
  if (deleting.removeBlob) await blobs.remove(deleting.blobId);
  await files.finishDelete(deleting);
}

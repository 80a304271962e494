import type { BlobStore } from './blob-store.ts';
import type { FileAccess } from './file-access.ts';
import type { FileRepository } from './file-repository.ts';

/** Files as other rooms see them. */
export function createFileAccess(deps: { readonly files: FileRepository; readonly blobs: BlobStore }): FileAccess {
  return {
    findFile: (projectId, fileId) => deps.files.find(projectId, fileId),
    async *open(file) {
      yield* await deps.blobs.open(file.blobId);
    },
  };
}

import type { FileAccess } from './file-access.ts';
import type { FileRepository } from './file-repository.ts';
import { checkLength, readVerified, type VerifiedContentDeps } from './maintenance/verified-content.ts';

/** Creates the interface of files for other modules. Content that is read completely equals the uploaded bytes. */
export function createFileAccess(
  deps: VerifiedContentDeps & { readonly files: Pick<FileRepository, 'find'> },
): FileAccess {
  return {
    findFile: (projectId, fileId) => deps.files.find(projectId, fileId),
    async *open(file) {
      await checkLength(deps, file);
      yield* readVerified(deps, file, await deps.blobs.open(file.blobId));
    },
  };
}

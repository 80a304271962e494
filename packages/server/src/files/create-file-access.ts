import type { FileAccess } from './file-access.ts';
import type { FileRepository } from './file-repository.ts';
import { checkLength, readVerified, type VerifiedContentDeps } from './verified-content.ts';

/** Files as other rooms see them. What is read to its end is what was uploaded. */
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

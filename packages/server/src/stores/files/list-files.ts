import { type FileListQuery, purposeNames, purposes } from '@quartermaster/contract';
import { checkCursor } from '../../platform/list-cursors.ts';
import { emptyPage, type Page } from '../../platform/page.ts';
import type { FileAccess } from './file-access.ts';
import type { FileRepository, StoredFile } from './file-repository.ts';
import { checkLength, readVerified, type VerifiedContentDeps } from './maintenance/verified-content.ts';

/** Returns one page of a project's files. */
export async function listFiles(
  files: FileRepository,
  projectId: string,
  { purpose, collection_type: type, ...query }: FileListQuery,
): Promise<Page<StoredFile>> {
  checkCursor(query, 'file');
  if (purpose === undefined && type === undefined) return files.list(projectId, query);
  const wanted = purposeNames.filter(
    (name) => (purpose ?? name) === name && (type ?? purposes[name].collectionType) === purposes[name].collectionType,
  );
  if (wanted.length > 0) return files.list(projectId, { ...query, purposes: wanted });
  return emptyPage(query);
}

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

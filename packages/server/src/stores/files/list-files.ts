import { type FileListQuery, purposeNames, purposes } from '@quartermaster/contract';
import { checkCursor } from '../../platform/list-cursors.ts';
import { emptyPage, type Page } from '../../platform/page.ts';
import type { FileReach } from '../../platform/permissions.ts';
import type { FileAccess } from './file-access.ts';
import type { FileRepository, StoredFile } from './file-repository.ts';
import { readStored, type VerifiedContentDeps } from './maintenance/verified-content.ts';

/** Returns one page of the files of a project that the caller sees. */
export async function listFiles(
  files: FileRepository,
  { projectId, reach }: { readonly projectId: string; readonly reach: FileReach | null },
  { purpose, collection_type: type, ...query }: FileListQuery,
): Promise<Page<StoredFile>> {
  checkCursor(query, 'file');
  if (purpose === undefined && type === undefined) return files.list(projectId, query, reach);
  const wanted = purposeNames.filter(
    (name) => (purpose ?? name) === name && (type ?? purposes[name].collectionType) === purposes[name].collectionType,
  );
  if (wanted.length > 0) return files.list(projectId, { ...query, purposes: wanted }, reach);
  return emptyPage(query);
}

/** Creates the interface of files for other modules. Content that is read completely equals the uploaded bytes. */
export function createFileAccess(
  deps: VerifiedContentDeps & { readonly files: Pick<FileRepository, 'find'> },
): FileAccess {
  return {
    findFile: (projectId, fileId, reach) => deps.files.find(projectId, fileId, reach),
    open: (file) => readStored(deps, file),
  };
}

import { type FileListQuery, purposeNames, purposes } from '@quartermaster/contract';
import { checkCursor } from '../../platform/list-cursors.ts';
import { emptyPage, type Page } from '../../platform/page.ts';
import type { FileRepository, StoredFile } from './file-repository.ts';

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

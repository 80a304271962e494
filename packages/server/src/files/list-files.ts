import { type FileListQuery, purposeNames, purposes } from '@quartermaster/contract';
import { emptyPage, type Page } from '../kernel/page.ts';
import { cursorsConflict, objectNotFound } from '../kernel/problem.ts';
import type { FileRepository, StoredFile } from './file-repository.ts';

/** Returns one page of a project's files. Throws OBJECT_NOT_FOUND for a cursor that is not a file of the project. */
export async function listFiles(
  files: FileRepository,
  projectId: string,
  { purpose, collection_type: type, ...query }: FileListQuery,
): Promise<Page<StoredFile>> {
  if (query.after !== undefined && query.before !== undefined) {
    throw cursorsConflict();
  }
  const cursor = query.after ?? query.before;
  if (cursor !== undefined && (await files.find(projectId, cursor)) === undefined) throw objectNotFound('file', cursor);
  if (purpose === undefined && type === undefined) return files.list(projectId, query);
  const wanted = purposeNames.filter(
    (name) => (purpose ?? name) === name && (type ?? purposes[name].collectionType) === purposes[name].collectionType,
  );
  if (wanted.length > 0) return files.list(projectId, { ...query, purposes: wanted });
  return emptyPage(query);
}

import type { Page } from '../kernel/page.ts';
import { cursorsConflict, objectNotFound } from '../kernel/problem.ts';
import type { FileQuery, FileRepository, StoredFile } from './file-repository.ts';

/** Returns one page of a project's files. Throws OBJECT_NOT_FOUND for a cursor that is not a file of the project. */
export async function listFiles(files: FileRepository, projectId: string, query: FileQuery): Promise<Page<StoredFile>> {
  if (query.after !== undefined && query.before !== undefined) {
    throw cursorsConflict();
  }
  const cursor = query.after ?? query.before;
  if (cursor !== undefined && (await files.find(projectId, cursor)) === undefined) throw objectNotFound('file', cursor);
  return files.list(projectId, query);
}

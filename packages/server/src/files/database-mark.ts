import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../kernel/replace-file.ts';
import type { BlobStore, StoredBlob } from './blob-store.ts';
import type { FileRepository } from './file-repository.ts';
import { bytesOfAnotherDatabase, folderOfAnotherDatabase, rowsOfAnotherFolder } from './problems.ts';

/** The projects of a database. None is ever removed. */
export interface OwnProjects {
  findProject(projectId: string): Promise<object | undefined>;
  listProjects(): Promise<ReadonlyArray<{ readonly id: string }>>;
}

/** In the data folder: a project of the database that its bytes belong to. */
const markName = 'database-mark';

/**
 * A data folder belongs to one database: another one does not name its bytes, which would be removed as the remains of
 * uploads that were cut off (ADR 0059). To be asked before anything is made in either. A folder without a mark passes.
 * @throws Error when the folder belongs to another database
 */
export async function refuseOtherDatabase(folder: string, projects: Pick<OwnProjects, 'findProject'>): Promise<void> {
  const projectId = await readMark(folder);
  if (projectId === undefined || (await projects.findProject(projectId)) !== undefined) return;
  throw folderOfAnotherDatabase(folder, projectId, markName);
}

export interface MarkDeps {
  readonly projects: Pick<OwnProjects, 'listProjects'>;
  readonly files: Pick<FileRepository, 'knownBlobs' | 'liveBlobs'>;
  readonly blobs: Pick<BlobStore, 'list' | 'size'>;
}

/**
 * Marks a data folder that has no mark: a new one, a restored one, one of a version that made none.
 * @throws Error when its bytes and the files of the database have nothing in common
 */
export async function markFolder(folder: string, { projects, files, blobs }: MarkDeps): Promise<void> {
  if ((await readMark(folder)) !== undefined) return;
  const [project] = await projects.listProjects();
  if (project === undefined) throw new Error('a data folder is marked when there is a project');
  const found = await firstOf(blobs.list());
  const known = await files.knownBlobs(found.map(({ blobId }) => blobId));
  if (found.length > 0 && known.size === 0) throw bytesOfAnotherDatabase(folder);
  const rows = await files.liveBlobs('', sample);
  const sizes = await Promise.all(rows.map(({ blobId }) => blobs.size(blobId)));
  if (rows.length > 0 && sizes.every((size) => size === undefined)) {
    throw rowsOfAnotherFolder(folder, join(folder, markName), project.id);
  }
  await replaceFile(join(folder, markName), `${project.id}\n`);
}

/** So many are looked at: some may be missing, or be remains, but never all. */
const sample = 100;

async function firstOf(list: AsyncIterable<StoredBlob>): Promise<StoredBlob[]> {
  const found: StoredBlob[] = [];
  for await (const blob of list) {
    found.push(blob);
    if (found.length === sample) break;
  }
  return found;
}

async function readMark(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, markName), 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

import type { Extension, Purpose } from '@quartermaster/contract';
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { FileReach } from '../../platform/permissions.ts';
import { Problem } from '../../platform/problem.ts';
import { projectText, readProject } from '../../platform/project-text.ts';
import type { BlobDamage } from '../../stores/files/blob-repository.ts';
import {
  CommitInDoubt,
  type DeletingFile,
  type FileKind,
  type FileQuery,
  type FileRepository,
  type StoredBlobRow,
  type StoredContent,
  type StoredFile,
} from '../../stores/files/file-repository.ts';
import { bytesOfFileName } from '../database/counted-bytes.ts';
import type { Database } from '../database/database.ts';
import { isOwned, type KeysetWindow, readKeysetPage, rowsWithin } from '../database/keyset-page.ts';
import { containsText } from '../database/like-pattern.ts';
import { countRows } from '../database/row-limit.ts';
import type { BlobTable, FileTable, Tables } from '../database/tables.ts';
import { addFiles, contentKey } from './add-files.ts';
import { archivePurpose } from './archive-repository.ts';
import { artifactPurpose } from './artifact-repository.ts';
import { nextChange } from './project-repository.ts';
import { changeUsage, correctUsage, findUsage, findWrongUsages } from './project-usage.ts';

/** Stores files in either database. */
export function createFileRepository(
  database: Database,
  /** `hasIntents`: whether the bytes of added files are in object storage. */
  { hasIntents = false }: { readonly hasIntents?: boolean } = {},
): FileRepository {
  const { read, write } = database;
  return {
    add: (files, limits, isStored) =>
      addFiles(
        (work) => commit(database, (transaction) => work({ transaction, dialect: database.dialect, hasIntents })),
        files,
        limits,
        isStored,
      ),
    find: async (projectId, fileId, reach = null) => {
      const row = await read
        .selectFrom('file')
        .selectAll()
        .where('id', '=', fileId)
        .where('project_id', '=', projectId)
        .where('state', '=', 'live')
        .where('purpose', '<>', artifactPurpose)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const isSeen = reach === null || reach.keyIds.has(row.uploader_id ?? '');
      if (isSeen || (await findReferences(read, row, { limit: 1, reach })).length > 0) return toFile(row);
      return undefined;
    },
    list: (projectId, query, reach = null) => listFiles(database, projectId, { query, reach }),
    references: (projectId, id, options) => findReferences(read, { project_id: projectId, id }, options),
    bytesKept: (projectId) => findUsage(read, projectId),
    wrongUsages: () => findWrongUsages(read),
    correctUsage: (projectId) => correctUsage(database, projectId),
    startDelete: (projectId, fileId, kind) =>
      write.transaction().execute((transaction) => startDelete(transaction, projectId, fileId, kind)),
    finishDelete: (deleting) => write.transaction().execute((transaction) => finishDelete(transaction, deleting)),
    unfinishedDeletes: (limit) => unfinishedDeletes(read, limit),
    knownBlobs: async (blobIds) => {
      if (blobIds.length === 0) return new Set();
      const ofIntents = read.selectFrom('blob_intent').select('blob_id as id').where('blob_id', 'in', blobIds);
      const rows = await read.selectFrom('blob').select('id').where('id', 'in', blobIds).union(ofIntents).execute();
      return new Set(rows.map((row) => row.id));
    },
    findContents: (contents) => findContents(read, contents),
    liveBlobs: async (after, limit) => {
      const rows = await liveBlobs(read).where('id', '>', after).orderBy('id').limit(limit).execute();
      return rows.map(toBlob);
    },
  };
}

async function findContents(read: Kysely<Tables>, contents: readonly StoredContent[]) {
  const byProject = Map.groupBy(contents, ({ projectId }) => projectId);
  const rows = await liveBlobs(read)
    .where((is) =>
      is.or(
        [...byProject].map(([projectId, own]) => {
          const hashes = own.map(({ sha256 }) => sha256);
          return is.and([is('project_id', '=', projectText(projectId)), is('sha256', 'in', hashes)]);
        }),
      ),
    )
    .execute();
  const found = new Map(rows.map((row) => [contentKey(row.project_id, row.sha256), toBlob(row)]));
  return contents.map(({ projectId, sha256 }) => found.get(contentKey(projectId, sha256)));
}

/** The state is a literal, because neither database uses a partial index for a parameter. */
function liveBlobs(read: Kysely<Tables>) {
  return read
    .selectFrom('blob')
    .select(['id', 'project_id', 'bytes', 'sha256', 'damage'])
    .where('state', '=', sql.lit('live'));
}

function toBlob(row: Pick<Selectable<BlobTable>, 'id' | 'project_id' | 'bytes' | 'sha256' | 'damage'>): StoredBlobRow {
  return {
    blobId: row.id,
    projectId: readProject(row.project_id),
    bytes: Number(row.bytes),
    sha256: row.sha256,
    damage: row.damage as BlobDamage | null, // written by recordDamage
  };
}

/** Runs a transaction. A failure before COMMIT is sent, or for lack of disk space, has rolled it back. */
async function commit<T>({ write }: Database, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
  let atCommit = false;
  try {
    return await write.transaction().execute(async (transaction) => {
      const result = await work(transaction);
      atCommit = true;
      return result;
    });
  } catch (error) {
    const isFull = error instanceof Problem && error.code === 'INSUFFICIENT_STORAGE';
    throw atCommit && !isFull ? new CommitInDoubt(error) : error;
  }
}

/** Returns the records that were created from a file, in the collections of the caller. */
async function findReferences(
  read: Kysely<Tables>,
  file: { readonly project_id: string; readonly id: string },
  { limit, reach }: { readonly limit: number; readonly reach: FileReach | null },
) {
  let records = read
    .selectFrom('record')
    .select(['id', 'collection_id'])
    .where('file_id', '=', file.id)
    .where('project_id', '=', file.project_id)
    .where('status', '<>', 'deleting');
  if (reach !== null) records = records.where('collection_id', 'in', [...reach.collections]);
  const rows = await records.orderBy('id', 'desc').limit(limit).execute();
  return rows.map((row) => ({ collectionId: row.collection_id, recordId: row.id }));
}

/** Selects the ids of the files that a caller limited to collections sees. */
function idsWithin(read: Kysely<Tables>, { keyIds, collections }: FileReach) {
  const ofRecords = read
    .selectFrom('record')
    .select((column) => column.ref('file_id').$notNull().as('id'))
    .where('collection_id', 'in', [...collections])
    .where('file_id', 'is not', null)
    .where('status', '<>', 'deleting');
  return read
    .selectFrom('file')
    .select('id')
    .where('uploader_id', 'in', [...keyIds])
    .union(ofRecords);
}

async function listFiles(
  { read, dialect }: Database,
  projectId: string,
  { query, reach }: { readonly query: FileQuery; readonly reach: FileReach | null },
) {
  const owned = { dialect, by: { project_id: projectId } };
  let wanted = read.selectFrom('file').selectAll();
  if (reach !== null) wanted = wanted.where('id', 'in', idsWithin(read, reach));
  if (query.sha256 !== undefined) {
    const blobs = liveBlobs(read).clearSelect().select('id').where('project_id', '=', projectId);
    wanted = wanted.where('blob_id', 'in', blobs.where('sha256', '=', query.sha256));
  }
  const filters = fileFilters(query, dialect);
  const rows = filters.reduce((found, filter) => found.where(filter), wanted);
  const readPage = (window: KeysetWindow) => rowsWithin(rows, window, { owned }).execute();
  const page = await readKeysetPage(query, readPage, () =>
    countRows(read, wanted.where(isOwned(owned)).orderBy('id', 'desc'), filters),
  );
  return { ...page, items: page.items.map(toFile) };
}

function fileFilters({ purposes, name }: FileQuery, dialect: Database['dialect']): ReadonlyArray<RawBuilder<boolean>> {
  const isWanted =
    purposes === undefined
      ? sql<boolean>`file.purpose <> ${artifactPurpose}`
      : sql<boolean>`file.purpose in (${sql.join(purposes)})`;
  const ofName = name === undefined ? [] : [containsText(sql`file.name`, name, dialect)];
  return [sql<boolean>`file.state = 'live'`, isWanted, ...ofName];
}

function toFile(row: Selectable<FileTable>): StoredFile {
  return {
    id: row.id,
    projectId: row.project_id,
    blobId: row.blob_id,
    name: row.name,
    purpose: row.purpose as Purpose, // written by addFiles
    extension: row.extension as Extension, // written by addFiles
    bytes: Number(row.bytes),
    sha256: row.sha256,
    createdAt: Number(row.created_at),
    uploaderId: row.uploader_id,
  };
}

/**
 * Marks the file, and its blob when no other live file uses it. Locks the blob first, so that an upload of the same
 * bytes waits.
 */
async function startDelete(
  transaction: Transaction<Tables>,
  projectId: string | null,
  fileId: string,
  kind: FileKind = 'file',
): Promise<DeletingFile | 'absent' | 'in_use'> {
  const file = await transaction
    .updateTable('file')
    .set({ state: 'deleting' })
    .where('id', '=', fileId)
    .where('project_id', '=', projectText(projectId))
    .where('state', '=', 'live')
    .where('purpose', kind === 'artifact' ? '=' : '<>', artifactPurpose)
    .returning(['blob_id', 'bytes', 'purpose', bytesOfFileName.as('name_bytes')])
    .executeTakeFirst();
  if (file === undefined) return 'absent';
  const user = await transaction
    .selectFrom('record')
    .select('id')
    .where('file_id', '=', fileId)
    .where('status', '=', 'creating')
    .limit(1)
    .executeTakeFirst();
  if (user !== undefined) {
    await transaction.updateTable('file').set({ state: 'live' }).where('id', '=', fileId).execute();
    return 'in_use';
  }
  await transaction
    .updateTable('blob')
    .set({ state: 'live' })
    .where('id', '=', file.blob_id)
    .where('state', '=', 'live')
    .execute();
  const removed = await transaction
    .updateTable('blob')
    .set({ state: 'deleting' })
    .where('id', '=', file.blob_id)
    .where((blob) =>
      blob.not(
        blob.exists(
          blob
            .selectFrom('file')
            .select('file.id')
            .where('file.blob_id', '=', file.blob_id)
            .where('file.state', '=', 'live'),
        ),
      ),
    )
    .executeTakeFirst();
  if (file.purpose === archivePurpose) await nextChange(transaction);
  const freed = { bytes: -Number(file.bytes), textBytes: -Number(file.name_bytes), files: -1 };
  await changeUsage(transaction, projectId, freed);
  return {
    fileId,
    blobId: file.blob_id,
    bytes: Number(file.bytes),
    removeBlob: removed.numUpdatedRows === 1n,
  };
}

/** Deletes the file row. The last file row of a blob deletes the blob's row too. */
async function finishDelete(transaction: Transaction<Tables>, deleting: DeletingFile): Promise<void> {
  await transaction.deleteFrom('file').where('id', '=', deleting.fileId).where('state', '=', 'deleting').execute();
  await transaction
    .deleteFrom('blob')
    .where('id', '=', deleting.blobId)
    .where('state', '=', 'deleting')
    .where((blob) =>
      blob.not(blob.exists(blob.selectFrom('file').select('file.id').where('file.blob_id', '=', deleting.blobId))),
    )
    .execute();
}

async function unfinishedDeletes(db: Kysely<Tables>, limit: number): Promise<readonly DeletingFile[]> {
  const rows = await db
    .selectFrom('file')
    .innerJoin('blob', 'blob.id', 'file.blob_id')
    .select(['file.id as fileId', 'file.blob_id as blobId', 'file.bytes', 'blob.state as blobState'])
    .where('file.state', '=', 'deleting')
    .orderBy('file.id')
    .limit(limit)
    .execute();
  return rows.map(({ blobState, bytes, ...row }) => ({
    ...row,
    bytes: Number(bytes),
    removeBlob: blobState === 'deleting',
  }));
}

import type { Kysely, Transaction } from 'kysely';
import type { DeletingFile, FileKind } from '../../stores/files/file-repository.ts';
import { bytesOfFileName } from '../database/counted-bytes.ts';
import type { Tables } from '../database/tables.ts';
import { artifactPurpose } from './artifact-repository.ts';
import { changeUsage } from './project-usage.ts';

/**
 * Marks the file, and its blob when no other live file uses it. Locks the blob first, so that an upload of the same
 * bytes waits.
 */
export async function startDelete(
  transaction: Transaction<Tables>,
  projectId: string,
  fileId: string,
  kind: FileKind = 'file',
): Promise<DeletingFile | 'absent' | 'in_use'> {
  const file = await transaction
    .updateTable('file')
    .set({ state: 'deleting' })
    .where('id', '=', fileId)
    .where('project_id', '=', projectId)
    .where('state', '=', 'live')
    .where('purpose', kind === 'artifact' ? '=' : '<>', artifactPurpose)
    .returning(['blob_id', 'bytes', bytesOfFileName.as('name_bytes')])
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
  const freed = { bytes: -Number(file.bytes), textBytes: -Number(file.name_bytes), files: -1 };
  await changeUsage(transaction, projectId, freed);
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
  return {
    fileId,
    blobId: file.blob_id,
    bytes: Number(file.bytes),
    removeBlob: removed.numUpdatedRows === 1n,
  };
}

/** Deletes the file row. The last file row of a blob deletes the blob's row too. */
export async function finishDelete(transaction: Transaction<Tables>, deleting: DeletingFile): Promise<void> {
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

export async function unfinishedDeletes(db: Kysely<Tables>, limit: number): Promise<readonly DeletingFile[]> {
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

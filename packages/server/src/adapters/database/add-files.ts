import { sql, type Transaction } from 'kysely';
import type { AddOutcome, FileLimits, NewFile, StoredFile } from '../../files/file-repository.ts';
import { storeAnswer } from './idempotency-repository.ts';
import { changeUsage } from './project-usage.ts';
import type { Tables } from './tables.ts';

/**
 * Adds files in as few statements as they allow: three for those of one project, and one more for each idempotency key.
 * What would exceed the limit of its project is left out; a smaller file after it may still have room.
 */
export async function addFiles(
  transaction: Transaction<Tables>,
  files: readonly NewFile[],
  { maxProjectBytes }: FileLimits,
): Promise<readonly AddOutcome[]> {
  const room = await takeRoom(transaction, files, maxProjectBytes ?? Number.POSITIVE_INFINITY);
  const refused = new Map<string, AddOutcome>();
  const kept: StoredFile[] = [];
  for (const { file, claim } of files) {
    if (!room.has(file)) refused.set(file.id, { kind: 'no_room' });
    else if (claim !== null && !(await storeAnswer(transaction, claim))) {
      refused.set(file.id, { kind: 'claim_lost' });
      room.giveBack(file);
    } else kept.push(file);
  }
  await room.settle();
  const blobOf = kept.length === 0 ? new Map<string, string>() : await keepBlobs(transaction, kept);
  const rows = kept.map((file) => {
    const blobId = blobOf.get(contentKey(file.projectId, file.sha256));
    if (blobId === undefined) throw new Error(`no blob row for file ${file.id}`);
    return toRow(file, blobId);
  });
  if (rows.length > 0) await transaction.insertInto('file').values(rows).execute();
  const blobIds = new Map(rows.map((row) => [row.id, row.blob_id]));
  return files.map(({ file }): AddOutcome => {
    const blobId = blobIds.get(file.id);
    return blobId === undefined ? (refused.get(file.id) ?? { kind: 'claim_lost' }) : { kind: 'added', blobId };
  });
}

/** Counts all files first, which holds the projects' sums, and takes back what is not kept: mostly nothing. */
async function takeRoom(transaction: Transaction<Tables>, files: readonly NewFile[], most: number) {
  const fits = new Set<StoredFile>();
  const unused = new Map<string, number>();
  const addUnused = ({ projectId, bytes }: StoredFile) => unused.set(projectId, (unused.get(projectId) ?? 0) + bytes);
  const byProject = Map.groupBy(
    files.map(({ file }) => file),
    ({ projectId }) => projectId,
  );
  // Sorted, so that two groups never wait for each other.
  for (const [projectId, own] of [...byProject].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const wanted = own.reduce((sum, { bytes }) => sum + bytes, 0);
    let used = (await changeUsage(transaction, projectId, wanted)) - wanted;
    for (const file of own) {
      // Nothing takes no room, whatever has been taken before there was a limit.
      if (used + file.bytes > most && file.bytes > 0) addUnused(file);
      else {
        used += file.bytes;
        fits.add(file);
      }
    }
  }
  return {
    has: (file: StoredFile) => fits.has(file),
    giveBack: addUnused,
    async settle() {
      for (const [projectId, bytes] of unused) await changeUsage(transaction, projectId, -bytes);
    },
  };
}

/**
 * One row a content: the new blob's, or that of the live blob the project has already. The update that changes nothing
 * locks the row, so a delete that runs meanwhile either is seen or sees this file. Sorted, so that two such statements
 * never wait for each other.
 */
async function keepBlobs(transaction: Transaction<Tables>, files: readonly StoredFile[]): Promise<Map<string, string>> {
  const contents = new Map(files.map((file) => [contentKey(file.projectId, file.sha256), file]));
  const rows = [...contents.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, file]) => ({
      id: file.blobId,
      project_id: file.projectId,
      sha256: file.sha256,
      bytes: file.bytes,
      state: 'live' as const,
      created_at: file.createdAt,
    }));
  const blobs = await transaction
    .insertInto('blob')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'sha256'])
        // Literally as in the index: PostgreSQL does not find a partial index by a parameter.
        .where('state', '=', sql.lit('live'))
        .doUpdateSet({ state: 'live' }),
    )
    .returning(['id', 'project_id', 'sha256'])
    .execute();
  return new Map(blobs.map((blob) => [contentKey(blob.project_id, blob.sha256), blob.id]));
}

function contentKey(projectId: string, sha256: string): string {
  return `${projectId} ${sha256}`;
}

function toRow(file: StoredFile, blobId: string) {
  return {
    id: file.id,
    project_id: file.projectId,
    blob_id: blobId,
    name: file.name,
    purpose: file.purpose,
    extension: file.extension,
    bytes: file.bytes,
    sha256: file.sha256,
    state: 'live' as const,
    created_at: file.createdAt,
  };
}

import { sql, type Transaction } from 'kysely';
import { projectText } from '../../platform/project-text.ts';
import type {
  AddOutcome,
  FileLimits,
  IsStored,
  NewFile,
  StoredArchive,
  StoredArtifact,
} from '../../stores/files/file-repository.ts';
import { countBytes } from '../database/counted-bytes.ts';
import type { Database } from '../database/database.ts';
import { findDeleted } from '../database/deleted-projects.ts';
import type { Tables } from '../database/tables.ts';
import { archivePurpose } from './archive-repository.ts';
import { artifactPurpose } from './artifact-repository.ts';
import { closeIntents, openIntents } from './blob-intents.ts';
import { storeAnswer } from './idempotency-repository.ts';
import { nextChange } from './project-repository.ts';
import { changeUsage, totalOf } from './project-usage.ts';

type NewRow = NewFile['file'];
type KeptBlob = Pick<AddOutcome & { kind: 'added' }, 'blobId' | 'replaced'>;

interface AddContext {
  readonly transaction: Transaction<Tables>;
  readonly dialect: Database['dialect'];
  /** Whether the bytes are in object storage. */
  readonly hasIntents: boolean;
}

type Refusals = Map<NewRow, 'no_room' | 'too_many_files'>;

/** Rolls back a transaction whose files exceed the limits of a project. */
class LimitsExceeded extends Error {}

/**
 * Adds files, with one transaction unless a project exceeds its limits. The sums of a project are changed last, because all nodes
 * wait for their row. Only then is it known which files are refused: the transaction is rolled back, and repeated without them.
 * A smaller file after a refused one may still fit.
 * @param commit runs the work in a transaction
 */
export async function addFiles(
  commit: <T>(work: (context: AddContext) => Promise<T>) => Promise<T>,
  files: readonly NewFile[],
  limits: FileLimits,
  isStored: IsStored,
): Promise<readonly AddOutcome[]> {
  for (const refusals: Refusals = new Map(); ; ) {
    try {
      return await commit((context) => addRows(context, { files, limits, isStored, refusals }));
    } catch (error) {
      // Each attempt refuses at least one file more.
      if (!(error instanceof LimitsExceeded)) throw error;
    }
  }
}

interface Adding {
  readonly files: readonly NewFile[];
  readonly limits: FileLimits;
  readonly isStored: IsStored;
  /** The files that earlier attempts have refused. An attempt that fails adds to them. */
  readonly refusals: Refusals;
}

/** Needs three statements for the files of one project, and one more for each idempotency key. */
async function addRows(
  { transaction, dialect, hasIntents }: AddContext,
  { files, limits, isStored, refusals }: Adding,
): Promise<readonly AddOutcome[]> {
  const deleted = await findDeleted(
    transaction,
    dialect,
    files.map(({ file }) => file.projectId),
  );
  const givenUp = hasIntents ? await closeIntents(transaction, files) : new Set<string>();
  const open = files.filter(({ file }) => !deleted.has(file.projectId) && !givenUp.has(file.blobId));
  const refused = new Map<string, AddOutcome>();
  const stored: NewRow[] = [];
  for (const { file, claim } of open) {
    const reason = refusals.get(file);
    if (reason !== undefined) refused.set(file.id, { kind: reason });
    else if (claim !== null && !(await storeAnswer(transaction, claim))) refused.set(file.id, { kind: 'claim_lost' });
    else stored.push(file);
  }
  const blobOf = stored.length === 0 ? new Map<string, KeptBlob>() : await keepBlobs(transaction, stored, isStored);
  const added = new Map<string, AddOutcome>();
  const rows = stored.map((file) => {
    const blob = blobOf.get(contentKey(file.projectId, file.sha256));
    if (blob === undefined) throw new Error(`no blob row for file ${file.id}`);
    added.set(file.id, { kind: 'added', ...blob });
    return toRow(file, blob.blobId);
  });
  if (rows.length > 0) await transaction.insertInto('file').values(rows).execute();
  const artifacts = stored.filter(isArtifact).map(toArtifactRow);
  if (artifacts.length > 0) await transaction.insertInto('artifact').values(artifacts).execute();
  const archives = stored.filter(isArchive).map(toArchiveRow);
  if (archives.length > 0) await transaction.insertInto('bundle_archive').values(archives).execute();
  if (archives.some(({ expires_at: end }) => end === null)) await nextChange(transaction);
  const unused = files.flatMap(({ file }) => {
    const outcome = added.get(file.id);
    const isUsed = outcome?.kind === 'added' && outcome.blobId === file.blobId;
    return isUsed || givenUp.has(file.blobId) ? [] : [file.blobId];
  });
  if (hasIntents && unused.length > 0) await openIntents({ transaction, dialect }, unused);
  await countFiles(transaction, stored, limits, refusals);
  return files.map(
    ({ file }) =>
      added.get(file.id) ?? refused.get(file.id) ?? { kind: givenUp.has(file.blobId) ? 'given_up' : 'no_project' },
  );
}

/** Adds the files to the sums of their projects. @throws LimitsExceeded when a project exceeds its limits */
async function countFiles(
  transaction: Transaction<Tables>,
  files: readonly NewRow[],
  { maxProjectBytes, maxFiles }: FileLimits,
  refusals: Refusals,
): Promise<void> {
  const known = refusals.size;
  const byProject = Map.groupBy(files, ({ projectId }) => projectId);
  // The sorted order prevents deadlocks between two groups.
  for (const [projectId, own] of [...byProject].sort(([a], [b]) => (projectText(a) < projectText(b) ? -1 : 1))) {
    const sizes = own.map((file) => file.bytes + countBytes('file', [file]));
    const wanted = sum(own.map((file) => file.bytes));
    const all = sum(sizes);
    const change = { bytes: wanted, textBytes: all - wanted, files: own.length };
    const sums = await changeUsage(transaction, projectId, change);
    let [bytes, count] = [totalOf(sums) - all, sums.files - own.length];
    for (const [at, file] of own.entries()) {
      const size = sizes[at] ?? 0;
      if (maxProjectBytes !== null && bytes + size > maxProjectBytes) refusals.set(file, 'no_room');
      else if (maxFiles !== null && count >= maxFiles) refusals.set(file, 'too_many_files');
      else {
        bytes += size;
        count += 1;
      }
    }
  }
  if (refusals.size > known) throw new LimitsExceeded();
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/**
 * Keeps one row per content: that of the new blob, or that of an undamaged live blob of the project. The update that
 * changes nothing locks the row. A concurrent delete is then either visible here or sees this file. The sorted order
 * prevents deadlocks between two such statements.
 */
async function keepBlobs(
  transaction: Transaction<Tables>,
  files: readonly NewRow[],
  isStored: IsStored,
): Promise<Map<string, KeptBlob>> {
  const contents = new Map(files.map((file) => [contentKey(file.projectId, file.sha256), file]));
  const rows = [...contents.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => toBlobRow(file));
  const blobs = await transaction
    .insertInto('blob')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'sha256'])
        // The literal must match the index, because PostgreSQL does not use a partial index for a parameter.
        .where('state', '=', sql.lit('live'))
        .doUpdateSet({ state: 'live' }),
    )
    .returning(['id', 'project_id', 'sha256', 'bytes', 'damage'])
    .execute();
  const blobsByHash = new Map<string, KeptBlob>();
  for (const blob of blobs) {
    const key = contentKey(blob.project_id, blob.sha256);
    const file = contents.get(key);
    const isGood =
      blob.id === file?.blobId ||
      (blob.damage === null && (await isStored({ blobId: blob.id, bytes: Number(blob.bytes) })));
    if (isGood || file === undefined) blobsByHash.set(key, { blobId: blob.id });
    else blobsByHash.set(key, await replaceBlob(transaction, blob.id, file));
  }
  return blobsByHash;
}

/** Assigns the new bytes to every file of the damaged blob. The old row stays until its own bytes are erased. */
async function replaceBlob(transaction: Transaction<Tables>, damaged: string, file: NewRow): Promise<KeptBlob> {
  await transaction.updateTable('blob').set({ state: 'deleting' }).where('id', '=', damaged).execute();
  await transaction.insertInto('blob').values(toBlobRow(file)).execute();
  await transaction.updateTable('file').set({ blob_id: file.blobId }).where('blob_id', '=', damaged).execute();
  return { blobId: file.blobId, replaced: damaged };
}

function toBlobRow(file: NewRow) {
  return {
    id: file.blobId,
    project_id: projectText(file.projectId),
    sha256: file.sha256,
    bytes: file.bytes,
    state: 'live' as const,
    created_at: file.createdAt,
    damage: null,
    damaged_at: null,
  };
}

export function contentKey(projectId: string | null, sha256: string): string {
  return `${projectText(projectId)} ${sha256}`;
}

function toRow(file: NewRow, blobId: string) {
  return {
    id: file.id,
    project_id: projectText(file.projectId),
    blob_id: blobId,
    name: file.name,
    ...kindOf(file),
    bytes: file.bytes,
    sha256: file.sha256,
    state: 'live' as const,
    created_at: file.createdAt,
    uploader_id: file.uploaderId ?? null,
  };
}

/** Artifacts have no extension, because their media type is stored. */
function kindOf(file: NewRow) {
  if (isArchive(file)) return { purpose: archivePurpose, extension: '' };
  return isArtifact(file)
    ? { purpose: artifactPurpose, extension: '' }
    : { purpose: file.purpose, extension: file.extension };
}

function isArchive(file: NewRow): file is StoredArchive {
  return 'facts' in file;
}

function toArchiveRow({ id, bundleId, facts, expiresAt }: StoredArchive) {
  return { id, bundle_id: bundleId, facts, expires_at: expiresAt };
}

function isArtifact(file: NewRow): file is StoredArtifact {
  return 'runId' in file;
}

function toArtifactRow(artifact: StoredArtifact) {
  return {
    id: artifact.id,
    project_id: projectText(artifact.projectId),
    key_id: artifact.keyId,
    run_id: artifact.runId,
    media_type: artifact.mediaType,
    expires_at: artifact.expiresAt,
  };
}

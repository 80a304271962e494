import type { BlobDigest, BlobStore } from '../files/blob-store.ts';
import { finishDeleting } from '../files/delete-file.ts';
import { CommitInDoubt, type FileLimits, type FileRepository, type StoredArtifact } from '../files/file-repository.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CountExceeded } from '../kernel/concurrency/limit-counter.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { ArtifactRepository } from './artifact-repository.ts';

export interface ArtifactOwner {
  /** `-` when the caller has no project. */
  readonly projectId: string;
  readonly keyId: string | null;
  readonly runId: string;
}

/** The bytes of an artifact that is to be added. */
export interface Content {
  readonly name: string;
  readonly mediaType: string;
  /** Makes the bytes durable. */
  commit(): Promise<BlobDigest & { readonly blobId: string }>;
}

export interface AddArtifactsDeps {
  readonly artifacts: Pick<ArtifactRepository, 'hasAtLeast'>;
  readonly files: Pick<FileRepository, 'add' | 'startDelete' | 'finishDelete'>;
  readonly blobs: BlobStore;
  /** The limits of the project's files and artifacts together. */
  readonly limits: FileLimits;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly countExceeded: CountExceeded;
  /** Milliseconds for which an artifact is stored. */
  readonly lifetimeMs: number;
  /** Limit on the artifacts of one project. */
  readonly most: number;
}

/** The amount by which answers that would otherwise be lost may exceed the limits of a project. They expire like other artifacts. ADR 0111. */
export const answerReserve = { bytes: 64 * 1024 * 1024, artifacts: 16 } as const;

export interface AddOptions {
  /** Whether the artifacts may use the {@link answerReserve}. */
  readonly usesReserve?: boolean;
}

/** Makes the bytes durable, then adds their rows in one transaction. @returns null when a limit refuses them */
export async function addArtifacts(
  deps: AddArtifactsDeps,
  contents: readonly Content[],
  owner: ArtifactOwner,
  { usesReserve = false }: AddOptions = {},
): Promise<readonly StoredArtifact[] | null> {
  const { artifacts, files, blobs } = deps;
  const { limits, most } = usesReserve ? withReserve(deps) : deps;
  const room = most - contents.length + 1;
  if (room < 1 || (await artifacts.hasAtLeast(owner.projectId, room))) {
    deps.countExceeded('artifacts_of_project');
    return null;
  }
  await blobs.checkRoom();
  const staged: StoredArtifact[] = [];
  const discard = async () => void (await Promise.all(staged.map(({ blobId }) => blobs.remove(blobId))));
  try {
    for (const content of contents) staged.push(await commit(deps, content, owner));
    const isStored = async (blob: { blobId: string; bytes: number }) => (await blobs.size(blob.blobId)) === blob.bytes;
    const rows = staged.map((file) => ({ file, claim: null }));
    const outcomes = await files.add(rows, limits, isStored);
    const kept = staged.map((artifact, index) => {
      const outcome = outcomes[index];
      return outcome?.kind === 'added' ? { artifact, ...outcome } : null;
    });
    await removeUnused(deps, kept, staged);
    if (kept.includes(null)) return await undo(deps, staged, kept);
    return kept.flatMap((one) => (one === null ? [] : [{ ...one.artifact, blobId: one.blobId }]));
  } catch (error) {
    // After a commit in doubt the rows may refer to the bytes.
    if (!(error instanceof CommitInDoubt)) await discard();
    throw error;
  }
}

function withReserve({ limits: { maxProjectBytes, maxFiles }, most }: AddArtifactsDeps) {
  const { bytes, artifacts } = answerReserve;
  const limits: FileLimits = {
    maxProjectBytes: maxProjectBytes === null ? null : maxProjectBytes + bytes,
    maxFiles: maxFiles === null ? null : maxFiles + artifacts,
  };
  return { limits, most: most + artifacts };
}

type Kept = { readonly artifact: StoredArtifact; readonly blobId: string; readonly replaced?: string } | null;

/** Removes staged bytes that no row uses: those that the project already had, and those that were refused. */
async function removeUnused(
  { blobs }: AddArtifactsDeps,
  kept: readonly Kept[],
  staged: readonly StoredArtifact[],
): Promise<void> {
  const used = new Set(kept.flatMap((one) => (one === null ? [] : [one.blobId])));
  const replaced = kept.flatMap((one) => (one?.replaced === undefined ? [] : [one.replaced]));
  const unused = staged.map(({ blobId }) => blobId).filter((blobId) => !used.has(blobId));
  await Promise.all([...unused, ...replaced].map((blobId) => blobs.remove(blobId)));
}

/** Deletes the artifacts of a run of which others were refused: a run has all of its artifacts or none. */
async function undo(deps: AddArtifactsDeps, staged: readonly StoredArtifact[], kept: readonly Kept[]): Promise<null> {
  for (const [index, { projectId, id }] of staged.entries()) {
    if (kept[index] === null) continue;
    const deleting = await deps.files.startDelete(projectId, id, 'artifact');
    if (typeof deleting !== 'string') await finishDeleting(deps, deleting);
  }
  return null;
}

async function commit(
  { newId, clock, lifetimeMs }: AddArtifactsDeps,
  { name, mediaType, commit }: Content,
  owner: ArtifactOwner,
): Promise<StoredArtifact> {
  const blob = await commit();
  const createdAt = clock.now();
  return { id: newId('artifact'), name, mediaType, ...owner, ...blob, createdAt, expiresAt: createdAt + lifetimeMs };
}

import type { CommonDeps } from '../../platform/common-deps.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { BlobDigest, BlobStore } from '../../stores/files/blob-store.ts';
import { commitFiles } from '../../stores/files/commit-files.ts';
import { finishDeleting } from '../../stores/files/delete-file.ts';
import type { FileLimits, FileRepository, StoredArtifact } from '../../stores/files/file-repository.ts';
import type { ArtifactRepository } from './artifact-repository.ts';

export interface ArtifactOwner {
  /** null when the caller has no project. */
  readonly projectId: string | null;
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

export interface AddArtifactsDeps extends Pick<CommonDeps, 'clock' | 'logger' | 'newId'> {
  readonly artifacts: Pick<ArtifactRepository, 'hasAtLeast'>;
  readonly files: Pick<FileRepository, 'add' | 'startDelete' | 'finishDelete'>;
  readonly blobs: BlobStore;
  /** The limits of the project's files and artifacts together. */
  readonly limits: FileLimits;
  readonly countExceeded: CountExceeded;
  /** Milliseconds for which an artifact is stored. */
  readonly lifetimeMs: number;
  /** Limit on the artifacts of one project. */
  readonly most: number;
}

/** The amount by which answers that would otherwise be lost may exceed the limits of a project. They expire like other artifacts. ADR 0097. */
const answerReserve = { bytes: 64 * 1024 * 1024, artifacts: 16 } as const;

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
  const outcomes = await commitFiles(deps, staged, async () => {
    for (const content of contents) staged.push(await commit(deps, content, owner));
    const isStored = async (blob: { blobId: string; bytes: number }) => (await blobs.size(blob.blobId)) === blob.bytes;
    const rows = staged.map((file) => ({ file, claim: null }));
    return await files.add(rows, limits, isStored);
  });
  const kept = staged.flatMap((artifact, index) => {
    const outcome = outcomes[index];
    return outcome?.kind === 'added' ? [{ ...artifact, blobId: outcome.blobId }] : [];
  });
  if (kept.length === staged.length) return kept;
  await undo(deps, kept);
  return null;
}

function withReserve({ limits: { maxProjectBytes, maxFiles }, most }: AddArtifactsDeps) {
  const { bytes, artifacts } = answerReserve;
  const limits: FileLimits = {
    maxProjectBytes: maxProjectBytes === null ? null : maxProjectBytes + bytes,
    maxFiles: maxFiles === null ? null : maxFiles + artifacts,
  };
  return { limits, most: most + artifacts };
}

/** Deletes the artifacts of a run of which others were refused: a run has all of its artifacts or none. */
async function undo(deps: AddArtifactsDeps, kept: readonly StoredArtifact[]): Promise<void> {
  for (const { projectId, id } of kept) {
    const deleting = await deps.files.startDelete(projectId, id, 'artifact');
    if (typeof deleting !== 'string') await finishDeleting(deps, deleting);
  }
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

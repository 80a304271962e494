import type { Artifact } from '@quartermaster/contract';
import type { BlobStore } from '../files/blob-store.ts';
import { finishDeleting } from '../files/delete-file.ts';
import { CommitInDoubt, type FileLimits, type FileRepository, type StoredArtifact } from '../files/file-repository.ts';
import { checkLength, readVerified, type VerifiedContentDeps } from '../files/maintenance/verified-content.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CountExceeded } from '../kernel/concurrency/limit-counter.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { Counter, type Registry } from '../kernel/metrics.ts';
import { objectNotFound } from '../kernel/problem.ts';
import type { ArtifactRepository } from './artifact-repository.ts';
import type { ArtifactUrls } from './artifact-urls.ts';

/** Content of an output that must be stored. */
export interface NewArtifact {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface ArtifactOwner {
  /** `-` when the caller has no project. */
  readonly projectId: string;
  readonly keyId: string | null;
  readonly runId: string;
}

/** Stores outputs of plugins until they expire. Source: ADR 0097. */
export interface ArtifactStore {
  /**
   * Stores the artifacts of one run, all of them or none. Never rejects, because the run has already had its effect.
   * @returns them in order; null when they cannot be stored (quota, disk, database)
   */
  keep(contents: readonly NewArtifact[], owner: ArtifactOwner): Promise<readonly Artifact[] | null>;
  /** @throws OBJECT_NOT_FOUND, also when it has expired */
  get(projectId: string, artifactId: string): Promise<StoredArtifact>;
  /** Returns `expired` for an artifact that is not deleted yet. */
  findStored(projectId: string, artifactId: string): Promise<StoredArtifact | 'expired' | undefined>;
  /**
   * Reads the bytes from the start.
   * @throws BlobMissing when the artifact was deleted in the meantime, StoredContentDamaged when the bytes differ
   */
  open(artifact: StoredArtifact): AsyncIterable<Uint8Array>;
  /** Reads all bytes and verifies their hash. */
  read(artifact: StoredArtifact): Promise<Buffer>;
  /** @throws OBJECT_NOT_FOUND */
  remove(projectId: string, artifactId: string): Promise<void>;
  toWire(artifact: StoredArtifact): Artifact;
}

export interface ArtifactStoreDeps extends VerifiedContentDeps {
  readonly artifacts: ArtifactRepository;
  readonly files: Pick<FileRepository, 'add' | 'startDelete' | 'finishDelete'>;
  readonly blobs: BlobStore;
  /** The limits of the project's files and artifacts together. */
  readonly limits: FileLimits;
  readonly urls: ArtifactUrls;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly countExceeded: CountExceeded;
  /** Milliseconds for which an artifact is stored. */
  readonly lifetimeMs: number;
  /** Limit on the artifacts of one project. */
  readonly most: number;
}

export function createArtifactStore(deps: ArtifactStoreDeps): ArtifactStore {
  const { artifacts, files, blobs, urls, clock, logger } = deps;
  const stored = new Counter({
    name: 'quartermaster_artifacts_total',
    help: 'Outputs of plugins that were to be stored, by result: `stored`, `refused` by a limit, or `failed`.',
    labelNames: ['result'] as const,
    registers: [deps.metrics],
  });

  const toWire = (artifact: StoredArtifact): Artifact => ({
    object: 'Artifact',
    artifact_id: artifact.id,
    run_id: artifact.runId,
    file_name: artifact.name,
    media_type: artifact.mediaType,
    bytes: artifact.bytes,
    sha256: artifact.sha256,
    file_url: urls.sign({ artifactId: artifact.id, projectId: artifact.projectId, expiresAt: artifact.expiresAt }),
    created_timestamp: artifact.createdAt,
    expires_timestamp: artifact.expiresAt,
  });

  async function findStored(projectId: string, artifactId: string): Promise<StoredArtifact | 'expired' | undefined> {
    const found = await artifacts.find(projectId, artifactId);
    return found !== undefined && found.expiresAt <= clock.now() ? 'expired' : found;
  }

  async function* open(artifact: StoredArtifact): AsyncGenerator<Buffer> {
    await checkLength(deps, artifact);
    yield* readVerified(deps, artifact, await blobs.open(artifact.blobId));
  }

  return {
    async keep(contents, owner) {
      if (contents.length === 0) return [];
      const count = contents.length;
      const run = { run_id: owner.runId, artifacts: count };
      try {
        const kept = await addArtifacts(deps, contents, owner);
        stored.inc({ result: kept === null ? 'refused' : 'stored' }, count);
        if (kept === null) logger.warn(run, 'artifacts not stored: a limit of the project is reached');
        return kept?.map(toWire) ?? null;
      } catch (error) {
        stored.inc({ result: 'failed' }, count);
        logger.error({ ...run, err: error }, 'artifacts not stored');
        return null;
      }
    },
    findStored,
    async get(projectId, artifactId) {
      const found = await findStored(projectId, artifactId);
      if (found === undefined || found === 'expired') throw objectNotFound('artifact', artifactId);
      return found;
    },
    open,
    read: async (artifact) => Buffer.concat(await Array.fromAsync(open(artifact))),
    async remove(projectId, artifactId) {
      const deleting = await files.startDelete(projectId, artifactId, 'artifact');
      if (typeof deleting === 'string') throw objectNotFound('artifact', artifactId);
      await finishDeleting(deps, deleting);
    },
    toWire,
  };
}

/** Makes the bytes durable, then adds their rows in one transaction. @returns null when a limit refuses them */
async function addArtifacts(
  deps: ArtifactStoreDeps,
  contents: readonly NewArtifact[],
  owner: ArtifactOwner,
): Promise<readonly StoredArtifact[] | null> {
  const { artifacts, files, blobs } = deps;
  const room = deps.most - contents.length + 1;
  if (room < 1 || (await artifacts.hasAtLeast(owner.projectId, room))) {
    deps.countExceeded('artifacts_of_project');
    return null;
  }
  await blobs.checkRoom();
  const staged: StoredArtifact[] = [];
  const discard = async () => void (await Promise.all(staged.map(({ blobId }) => blobs.remove(blobId))));
  try {
    for (const content of contents) staged.push(await stage(deps, content, owner));
    const isStored = async (blob: { blobId: string; bytes: number }) => (await blobs.size(blob.blobId)) === blob.bytes;
    const rows = staged.map((file) => ({ file, claim: null }));
    const outcomes = await files.add(rows, deps.limits, isStored);
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

type Kept = { readonly artifact: StoredArtifact; readonly blobId: string; readonly replaced?: string } | null;

/** Removes staged bytes that no row uses: those that the project already had, and those that were refused. */
async function removeUnused(
  { blobs }: ArtifactStoreDeps,
  kept: readonly Kept[],
  staged: readonly StoredArtifact[],
): Promise<void> {
  const used = new Set(kept.flatMap((one) => (one === null ? [] : [one.blobId])));
  const replaced = kept.flatMap((one) => (one?.replaced === undefined ? [] : [one.replaced]));
  const unused = staged.map(({ blobId }) => blobId).filter((blobId) => !used.has(blobId));
  await Promise.all([...unused, ...replaced].map((blobId) => blobs.remove(blobId)));
}

/** Deletes the artifacts of a run of which others were refused: a run has all of its artifacts or none. */
async function undo(deps: ArtifactStoreDeps, staged: readonly StoredArtifact[], kept: readonly Kept[]): Promise<null> {
  for (const [index, { projectId, id }] of staged.entries()) {
    if (kept[index] === null) continue;
    const deleting = await deps.files.startDelete(projectId, id, 'artifact');
    if (typeof deleting !== 'string') await finishDeleting(deps, deleting);
  }
  return null;
}

async function stage(
  { blobs, newId, clock, lifetimeMs }: ArtifactStoreDeps,
  { name, mediaType, bytes }: NewArtifact,
  owner: ArtifactOwner,
): Promise<StoredArtifact> {
  const blob = blobs.stage(newId('blob'));
  try {
    // A copy, because the store frees the memory of what it writes.
    await blob.append(Buffer.from(bytes));
    const digest = await blob.finish();
    await blob.commit();
    const createdAt = clock.now();
    const expiresAt = createdAt + lifetimeMs;
    return { id: newId('artifact'), blobId: blob.blobId, name, mediaType, ...owner, ...digest, createdAt, expiresAt };
  } finally {
    await blob.discard();
  }
}

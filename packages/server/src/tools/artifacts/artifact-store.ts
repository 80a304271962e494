import type { Artifact } from '@quartermaster/contract';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { Counter } from '../../platform/metrics.ts';
import { objectNotFound } from '../../platform/problem.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { discardStaged } from '../../stores/files/commit-files.ts';
import { finishDeleting } from '../../stores/files/delete-file.ts';
import type { StoredArtifact } from '../../stores/files/file-repository.ts';
import { readStored, type VerifiedContentDeps } from '../../stores/files/maintenance/verified-content.ts';
import {
  type AddArtifactsDeps,
  type AddOptions,
  type ArtifactOwner,
  addArtifacts,
  type Content,
} from './add-artifacts.ts';
import type { ArtifactRepository } from './artifact-repository.ts';
import type { ArtifactUrls } from './artifact-urls.ts';
import { receiveBytes, type WrittenBytes } from './receive-bytes.ts';

/** Content of an output that must be stored. */
export interface NewArtifact {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Bytes that are written. Either `keep` or `discard` must be called. */
export interface ReceivedBytes extends Omit<WrittenBytes, 'commit'> {
  /** Adds the artifact, if necessary from the reserve of the project. Never rejects. @returns null when it cannot be stored */
  keep(about: Omit<NewArtifact, 'bytes'>, owner: ArtifactOwner): Promise<Artifact | null>;
}

/** Stores outputs of plugins until they expire. Source: ADR 0097. */
export interface ArtifactStore {
  /**
   * Stores the artifacts of one run, all of them or none. Never rejects, because the run has already had its effect.
   * @returns them in order, for the caller of the run; null when they cannot be stored (quota, disk, database)
   */
  keep(
    contents: readonly NewArtifact[],
    owner: ArtifactOwner,
    options?: AddOptions,
  ): Promise<readonly Artifact[] | null>;
  /**
   * Writes bytes that arrive, at most `maxBytes`, without their row. Ends early when the bytes break off. Never rejects.
   * @returns null when they cannot be stored, or there are none
   */
  receive(body: AsyncIterable<Buffer>, maxBytes: number): Promise<ReceivedBytes | null>;
  /** @throws OBJECT_NOT_FOUND, also when it has expired */
  get(projectId: string | null, artifactId: string): Promise<StoredArtifact>;
  /** Returns `expired` for an artifact that is not deleted yet. */
  findStored(projectId: string | null, artifactId: string): Promise<StoredArtifact | 'expired' | undefined>;
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
  /** Reads the id from the signed URL, because a caller without a key receives no `artifact_id`. */
  idOf(artifact: Artifact): string;
}

export interface ArtifactStoreDeps
  extends VerifiedContentDeps,
    AddArtifactsDeps,
    Pick<CommonDeps, 'logger' | 'metrics'> {
  readonly artifacts: ArtifactRepository;
  readonly blobs: BlobStore;
  readonly urls: ArtifactUrls;
}

export function createArtifactStore(deps: ArtifactStoreDeps): ArtifactStore {
  const { artifacts, files, urls, clock, logger } = deps;
  const stored = new Counter({
    name: 'quartermaster_artifacts_total',
    help: 'Outputs of plugins that were to be stored, by result: `stored`, `refused` by a limit, or `failed`.',
    labelNames: ['result'] as const,
    registers: [deps.metrics],
  });
  const bytesStored = new Counter({
    name: 'quartermaster_artifact_bytes_total',
    help: 'Bytes of outputs of plugins that were stored.',
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

  async function findStored(
    projectId: string | null,
    artifactId: string,
  ): Promise<StoredArtifact | 'expired' | undefined> {
    const found = await artifacts.find(projectId, artifactId);
    return found !== undefined && found.expiresAt <= clock.now() ? 'expired' : found;
  }

  const open = (artifact: StoredArtifact) => readStored(deps, artifact);

  /** Never rejects. */
  async function add(
    contents: readonly Content[],
    owner: ArtifactOwner,
    options?: AddOptions,
  ): Promise<readonly Artifact[] | null> {
    if (contents.length === 0) return [];
    const count = contents.length;
    const run = { run_id: owner.runId, artifacts: count };
    try {
      const kept = await addArtifacts(deps, contents, owner, options);
      stored.inc({ result: kept === null ? 'refused' : 'stored' }, count);
      bytesStored.inc(kept?.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0);
      if (kept === null) logger.warn(run, 'artifacts not stored: a limit of the project is reached');
      return kept?.map((artifact) => forCaller(toWire(artifact), owner)) ?? null;
    } catch (error) {
      stored.inc({ result: 'failed' }, count);
      logger.error({ ...run, err: error }, 'artifacts not stored');
      return null;
    }
  }

  return {
    keep: (contents, owner, options) =>
      add(
        contents.map((content) => toContent(deps, content)),
        owner,
        options,
      ),
    async receive(body, maxBytes) {
      const written = await receiveBytes(deps, body, maxBytes);
      if (written === null) return null;
      const { head, isComplete, commit, discard } = written;
      const keep = async (about: Omit<NewArtifact, 'bytes'>, owner: ArtifactOwner) => {
        const [artifact] = (await add([{ ...about, commit }], owner, { usesReserve: true })) ?? [];
        // Has no effect on bytes that the artifact uses.
        await discard();
        return artifact ?? null;
      };
      return { head, isComplete, keep, discard };
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
    idOf: ({ artifact_id: id, file_url: url }) => (id === '' ? urls.idOf(url) : id),
  };
}

/**
 * A caller without a key can only use the signed URL, so it receives no id. Such a caller has no project; a recovered run has one, but
 * no key. Source: ADR 0102.
 */
function forCaller(artifact: Artifact, { projectId }: ArtifactOwner): Artifact {
  return projectId === null ? { ...artifact, artifact_id: '' } : artifact;
}

function toContent({ blobs, newId, logger }: ArtifactStoreDeps, { name, mediaType, bytes }: NewArtifact): Content {
  const commit = async () => {
    const blob = blobs.stage(newId('blob'));
    try {
      // A copy, because the store frees the memory of what it writes.
      await blob.append(Buffer.from(bytes));
      const digest = await blob.finish();
      await blob.commit();
      return { blobId: blob.blobId, ...digest };
    } finally {
      await discardStaged(logger, blob);
    }
  };
  return { name, mediaType, commit };
}

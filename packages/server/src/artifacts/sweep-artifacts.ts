import type { BlobStore } from '../files/blob-store.ts';
import { finishDeleting } from '../files/delete-file.ts';
import type { FileRepository } from '../files/file-repository.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/log/logger.ts';
import type { ArtifactRepository } from './artifact-repository.ts';

export interface SweepArtifactsDeps {
  readonly artifacts: Pick<ArtifactRepository, 'findExpired'>;
  readonly files: Pick<FileRepository, 'startDelete' | 'finishDelete'>;
  readonly blobs: Pick<BlobStore, 'remove'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const batch = 500;

/**
 * Deletes expired artifacts. The task "finish deletes" completes a delete whose bytes cannot be removed now.
 * @returns the number of artifacts
 */
export async function sweepArtifacts(deps: SweepArtifactsDeps, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (;;) {
    const expired = await deps.artifacts.findExpired(deps.clock.now(), batch);
    for (const { projectId, artifactId } of expired) {
      signal?.throwIfAborted();
      const deleting = await deps.files.startDelete(projectId, artifactId, 'artifact');
      // Another process, or its owner, deletes it already.
      if (typeof deleting === 'string') continue;
      await finishDeleting(deps, deleting).catch((error: unknown) =>
        deps.logger.error({ err: error, artifact_id: artifactId }, 'delete not finished'),
      );
      count += 1;
    }
    if (expired.length < batch) break;
  }
  if (count > 0) deps.logger.info({ artifacts: count }, 'expired artifacts deleted');
  return count;
}

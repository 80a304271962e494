import type { BlobStore } from '../files/blob-store.ts';
import { finishDeleting } from '../files/delete-file.ts';
import type { FileRepository } from '../files/file-repository.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { Counter, type Registry } from '../kernel/metrics.ts';
import type { ArtifactRepository } from './artifact-repository.ts';

export interface SweepArtifactsDeps {
  readonly artifacts: Pick<ArtifactRepository, 'findExpired'>;
  readonly files: Pick<FileRepository, 'startDelete' | 'finishDelete'>;
  readonly blobs: Pick<BlobStore, 'remove'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
}

const batch = 500;

/**
 * Returns a function that deletes expired artifacts and resolves with their number. The task "finish deletes" completes a delete
 * whose bytes cannot be removed now.
 */
export function createArtifactSweep(deps: SweepArtifactsDeps): (signal?: AbortSignal) => Promise<number> {
  const deleted = new Counter({
    name: 'quartermaster_artifacts_expired_total',
    help: 'Expired artifacts that were deleted.',
    registers: [deps.metrics],
  });
  return async (signal) => {
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
        deleted.inc();
        count += 1;
      }
      if (expired.length < batch) break;
    }
    if (count > 0) deps.logger.info({ artifacts: count }, 'expired artifacts deleted');
    return count;
  };
}

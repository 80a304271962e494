import type { CommonDeps } from '../../platform/common-deps.ts';
import { Counter, registerGauge } from '../../platform/metrics.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { finishDeleting } from '../../stores/files/delete-file.ts';
import type { FileRepository } from '../../stores/files/file-repository.ts';
import type { ArtifactRepository } from './artifact-repository.ts';

export interface SweepArtifactsDeps extends Pick<CommonDeps, 'clock' | 'logger' | 'metrics'> {
  readonly artifacts: Pick<ArtifactRepository, 'findExpired' | 'countStored'>;
  readonly files: Pick<FileRepository, 'startDelete' | 'finishDelete'>;
  readonly blobs: Pick<BlobStore, 'remove'>;
}

const batch = 500;

/**
 * Returns a function that deletes expired artifacts, and resolves with their number. The task "finish deletes" completes a delete
 * whose bytes cannot be removed now.
 */
export function createArtifactSweep(deps: SweepArtifactsDeps): (signal?: AbortSignal) => Promise<number> {
  const deleted = new Counter({
    name: 'quartermaster_artifacts_expired_total',
    help: 'Artifacts that were deleted because they expired.',
    registers: [deps.metrics],
  });
  observeStored(deps);

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
      if (expired.length === batch) continue;
      if (count > 0) deps.logger.info({ artifacts: count }, 'expired artifacts deleted');
      return count;
    }
  };
}

/** Counts when the metrics are read. */
function observeStored({ artifacts, metrics }: SweepArtifactsDeps): void {
  registerGauge(
    metrics,
    'quartermaster_artifacts_stored',
    'Artifacts that are stored now, in all projects.',
    async () => (await artifacts.countStored()).artifacts,
  );
  registerGauge(
    metrics,
    'quartermaster_artifacts_stored_bytes',
    'Bytes of the artifacts that are stored now, in all projects.',
    async () => (await artifacts.countStored()).bytes,
  );
}

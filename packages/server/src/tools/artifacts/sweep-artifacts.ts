import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { Counter, Gauge, type Registry } from '../../platform/metrics.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { finishDeleting } from '../../stores/files/delete-file.ts';
import type { FileRepository } from '../../stores/files/file-repository.ts';
import type { ArtifactRepository, ExpiredArtifact } from './artifact-repository.ts';

export interface SweepArtifactsDeps {
  readonly artifacts: Pick<ArtifactRepository, 'findExpired' | 'findWithoutProject' | 'countStored'>;
  readonly files: Pick<FileRepository, 'startDelete' | 'finishDelete'>;
  readonly blobs: Pick<BlobStore, 'remove'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
}

const batch = 500;

/**
 * Returns a function that deletes expired artifacts and those of deleted projects, and resolves with their number. The task "finish deletes" completes a delete
 * whose bytes cannot be removed now.
 */
export function createArtifactSweep(deps: SweepArtifactsDeps): (signal?: AbortSignal) => Promise<number> {
  const deleted = new Counter({
    name: 'quartermaster_artifacts_expired_total',
    help: 'Artifacts that were deleted because they expired or their project was deleted.',
    registers: [deps.metrics],
  });
  observeStored(deps);

  async function sweep(find: () => Promise<readonly ExpiredArtifact[]>, signal?: AbortSignal): Promise<number> {
    let count = 0;
    for (;;) {
      const expired = await find();
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
      if (expired.length < batch) return count;
    }
  }

  return async (signal) => {
    const expired = await sweep(() => deps.artifacts.findExpired(deps.clock.now(), batch), signal);
    if (expired > 0) deps.logger.info({ artifacts: expired }, 'expired artifacts deleted');
    const orphaned = await sweep(() => deps.artifacts.findWithoutProject(batch), signal);
    if (orphaned > 0) deps.logger.info({ artifacts: orphaned }, 'artifacts of deleted projects deleted');
    return expired + orphaned;
  };
}

/** Counts when the metrics are read. */
function observeStored({ artifacts, metrics }: SweepArtifactsDeps): void {
  const registers = [metrics];
  new Gauge({
    name: 'quartermaster_artifacts_stored',
    help: 'Artifacts that are stored now, in all projects.',
    registers,
    async collect() {
      this.set((await artifacts.countStored()).artifacts);
    },
  });
  new Gauge({
    name: 'quartermaster_artifacts_stored_bytes',
    help: 'Bytes of the artifacts that are stored now, in all projects.',
    registers,
    async collect() {
      this.set((await artifacts.countStored()).bytes);
    },
  });
}
